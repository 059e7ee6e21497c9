import { expect, test } from 'bun:test'

import { generationResource } from './generation-resource.ts'

const stored = (attempts: readonly object[]): Parameters<typeof generationResource>[0] => ({
  id: 'gen-1',
  createdAt: '2026-11-28T00:00:00.000Z',
  workspaceId: 'w',
  keyHash: 'h',
  keyName: 'k',
  userId: 'u',
  presetId: null,
  presetVersion: null,
  model: 'm',
  provider: 'p',
  streamed: false,
  cancelled: false,
  tokensPrompt: 0,
  tokensCompletion: 0,
  costNanos: 0,
  byokCostNanos: 0,
  record: { id: 'gen-1', provider_responses: attempts.map((attempt) => ({ ...attempt })) },
})

test('an attempt has the id of its provider as "id", also where an earlier version recorded it as "upstream_id"', () => {
  const attempts = [
    { upstream_id: 'up-1', status: 200 },
    { upstream_id: null, status: 500 },
    { id: 'up-2', status: 200 },
  ]
  expect(generationResource(stored(attempts))['provider_responses']).toEqual([
    { id: 'up-1', status: 200 },
    { status: 500 },
    { id: 'up-2', status: 200 },
  ])
})

test('a record without attempts shows null for them', () => {
  const { record, ...others } = stored([])
  expect(generationResource({ ...others, record: { id: record['id'] ?? null } })['provider_responses']).toBeNull()
})
