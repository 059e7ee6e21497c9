import { expect, test } from 'bun:test'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { createActivityStore } from './activity-store.ts'
import type { GenerationRecord } from '../generations/generation-store.ts'
import { settleRequests, type Settlement } from '../ledger/settle-requests.ts'
import { generationRecord } from '../testing/generation-record.ts'

const generation = (id: string, more: Partial<GenerationRecord> = {}): GenerationRecord =>
  generationRecord({
    id,
    createdAt: '2026-11-20T10:00:00.000Z',
    workspaceId: 'w',
    keyHash: 'k',
    model: 'a/one',
    provider: 'fake',
    tokensPrompt: 10,
    tokensCompletion: 5,
    costNanos: 100,
    byokCostNanos: 7,
    record: { native_tokens_reasoning: 2, native_tokens_cached: 3 },
    ...more,
  })

const settlement = (record: GenerationRecord): Settlement => ({
  record,
  userId: 'user_1',
  held: false,
  final: {
    attempt: 0,
    provider: record.provider,
    amountNanos: record.costNanos,
    byokNanos: record.byokCostNanos,
    upstreamNanos: null,
    estimated: false,
    usage: '{}',
  },
  attempts: [],
})

const WHOLE = { from: '2026-11-01', to: '2026-11-30', workspaceId: null, byWorkspace: false }

describeEachEngine('activity', (engine) => {
  const open = async () => {
    const database = await engine.open()
    const settle = (records: readonly GenerationRecord[]) =>
      database.transaction((transaction) => settleRequests(transaction, database, records.map(settlement)))
    return { generations: { insertBatch: settle }, activity: createActivityStore(database) }
  }

  test('sums what was written by day, model and provider; a batch that comes twice counts once', async () => {
    const { generations, activity } = await open()
    const batch = [
      generation('g1'),
      generation('g2', { keyHash: 'other' }),
      generation('g2', { keyHash: 'other' }),
      generation('g3', { createdAt: '2026-11-21T00:00:00.000Z', record: {} }),
      generation('g4', { provider: null, costNanos: 0 }),
    ]
    await generations.insertBatch(batch)
    await generations.insertBatch(batch)
    const rows = await activity.read(WHOLE, 100)
    expect(rows.map(({ day, provider, requests }) => [day, provider, requests])).toEqual([
      ['2026-11-21', 'fake', 1],
      ['2026-11-20', 'fake', 2],
      ['2026-11-20', '', 1],
    ])
    expect(rows[1]).toEqual({
      day: '2026-11-20',
      model: 'a/one',
      provider: 'fake',
      workspace_id: '',
      requests: 2,
      tokens_prompt: 20,
      tokens_completion: 10,
      tokens_reasoning: 4,
      tokens_cached: 6,
      cost_nanos: 200,
      byok_cost_nanos: 14,
    })
  })

  test('by workspace, key and day, and no more rows than asked for', async () => {
    const { generations, activity } = await open()
    await generations.insertBatch([
      generation('g1'),
      generation('g2', { workspaceId: 'v', keyHash: 'l' }),
      generation('g3', { createdAt: '2026-11-19T23:59:59.999Z', model: 'a/\u0000two' }),
    ])
    const keys = async (filter: object) =>
      (await activity.read({ ...WHOLE, ...filter }, 100)).map(({ day, workspace_id, model }) => [day.slice(8), workspace_id, model])
    expect(await keys({ byWorkspace: true })).toEqual(
      [
        ['20', 'w', 'a/one'],
        ['20', 'v', 'a/one'],
        ['19', 'w', 'a/\uFFFDtwo'],
      ].sort(([dayA = '', wsA = ''], [dayB = '', wsB = '']) => (dayA === dayB ? (wsA < wsB ? -1 : 1) : dayA > dayB ? -1 : 1)),
    )
    expect(await keys({ workspaceId: 'v' })).toEqual([['20', '', 'a/one']])
    expect(await keys({ keyHash: 'l' })).toEqual([['20', '', 'a/one']])
    expect(await keys({ from: '2026-11-19', to: '2026-11-19' })).toEqual([['19', '', 'a/\uFFFDtwo']])
    expect(await keys({ userId: 'nobody' })).toEqual([])
    expect(await activity.read(WHOLE, 1)).toHaveLength(1)
  })
})
