import { expect, test } from 'bun:test'

import type { ProviderHealth } from '../src/api/providers.ts'
import { failedWords, markOfFailed, stateOf } from '../src/screens/models/provider-state.ts'

const CLOSED = { state: 'closed', until: null } as const
const provider = (status: ProviderHealth['status'], uptime: number | null, asked = 20): ProviderHealth => ({
  slug: 'good',
  name: 'Good',
  status,
  uptime,
  strip: [{ at: '2026-11-30T00:00:00.000Z', ok: (asked * (uptime ?? 0)) / 100, failed: (asked * (100 - (uptime ?? 0))) / 100 }],
  breaker: CLOSED,
  last_error: null,
  credentials: [],
  endpoints: [],
})

test.each([
  ['ok', 98, 'ok', 'Answers'],
  ['ok', 90.01, 'ok', 'Answers'],
  ['ok', 90, 'left', 'Failed at times'],
  ['ok', 50, 'left', 'Failed at times'],
  // Its last failure is too old for another status.
  ['ok', 0, 'error', 'Answered nothing in 24 h'],
  ['degraded', 50, 'left', 'Fails at times'],
  ['degraded', 0, 'error', 'Fails every time'],
  ['down', 0, 'error', 'Down'],
  ['unused', null, 'none', 'Not asked in 24 h'],
] as const)('a provider that is %p with %p percent answered is marked %p: %s', (status, uptime, mark, words) => {
  expect(stateOf(provider(status, uptime))).toMatchObject({ mark, words })
})

test.each([
  [1, 'left', 'Answered 0 of 1 in 24 h'],
  [4, 'left', 'Answered 0 of 4 in 24 h'],
  [5, 'error', 'Answered nothing in 24 h'],
] as const)('a provider that failed all of %p attempts, none of them lately, is marked %p: %s', (asked, mark, words) => {
  expect(stateOf(provider('ok', 0, asked))).toMatchObject({ mark, words })
  expect([markOfFailed(1, asked), failedWords(1, asked)]).toEqual([mark, asked < 5 ? `${asked} of ${asked} failed` : 'all failed'])
})
