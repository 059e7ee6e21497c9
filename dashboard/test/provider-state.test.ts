import { expect, test } from 'bun:test'

import type { ProviderHealth } from '../src/api/providers.ts'
import { stateOf } from '../src/screens/models/provider-state.ts'

const CLOSED = { state: 'closed', until: null } as const
const provider = (status: ProviderHealth['status'], uptime: number | null): ProviderHealth => ({
  slug: 'good',
  name: 'Good',
  status,
  uptime,
  strip: [],
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
