import { expect, test } from 'bun:test'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { createGenerationStore, type GenerationRecord } from './generation-store.ts'
import { createKeyStore } from '../keys/key-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { T0, T1 } from '../testing/preset-input.ts'
import { rejection } from '../testing/rejection.ts'
import { settlementOf } from '../testing/settlement.ts'
import { generationRecord } from '../testing/generation-record.ts'

const KEY = 'a'.repeat(64)

const generation = (id: string, more: Partial<GenerationRecord> = {}): GenerationRecord =>
  generationRecord({
    id,
    createdAt: T0,
    keyHash: KEY,
    model: 'openai/gpt-5.4',
    provider: 'openai',
    streamed: true,
    tokensPrompt: 10,
    tokensCompletion: 5,
    costNanos: 7,
    byokCostNanos: 3,
    record: { finish_reason: 'stop', provider_responses: [{ status: 200 }] },
    ...more,
  })

describeEachEngine('generation store', (engine) => {
  const prepare = async () => {
    const database = await engine.open()
    const daysOf = () => database.kysely.selectFrom('key_usage_days').selectAll().orderBy('key_hash').orderBy('day').execute()
    const ledger = createLedgerStore(database)
    const insertBatch = (records: readonly GenerationRecord[]) => ledger.settle(records.map((record) => settlementOf(record)))
    return { store: createGenerationStore(database), insertBatch, keys: createKeyStore(database), daysOf }
  }

  test('a record comes back as it was written, in its own workspace only', async () => {
    const { store, insertBatch } = await prepare()
    const full = generation('gen-1', {
      presetId: 'p-1',
      presetVersion: 3,
      costNanos: 9_007_199_254_740_991,
      streamed: false,
      cancelled: true,
    })
    const bare = generation('gen-2', { provider: null, keyHash: 'b'.repeat(64) })
    await insertBatch([full, bare])
    const who = { userId: 'user_1', keyName: null }
    expect(await store.get('gen-1', 'w-1')).toEqual({ ...full, ...who })
    expect(await store.get('gen-2', 'w-1')).toEqual({ ...bare, ...who })
    expect(await store.get('gen-1', 'w-2')).toBeNull()
    expect(await store.get('gen-3', 'w-1')).toBeNull()
  })

  test('a batch adds to the usage of each key and UTC day, and a later batch adds on', async () => {
    const { insertBatch, keys, daysOf } = await prepare()
    const other = 'b'.repeat(64)
    await insertBatch([
      generation('gen-1'),
      generation('gen-2'),
      generation('gen-3', { createdAt: '2026-11-20T23:59:59.999Z' }),
      generation('gen-4', { createdAt: '2026-11-21T00:00:00.000Z' }),
      generation('gen-5', { keyHash: other, costNanos: 0, byokCostNanos: 0 }),
    ])
    await insertBatch([generation('gen-6')])
    await insertBatch([])
    expect(await daysOf()).toEqual([
      { key_hash: KEY, day: '2026-11-20', cost_nanos: 28, byok_cost_nanos: 12, requests: 4, tokens: 60 },
      { key_hash: KEY, day: '2026-11-21', cost_nanos: 7, byok_cost_nanos: 3, requests: 1, tokens: 15 },
      { key_hash: other, day: '2026-11-20', cost_nanos: 0, byok_cost_nanos: 0, requests: 1, tokens: 15 },
    ])
    expect((await keys.usage(KEY, T0)).usage.totalNanos).toBe(35)
  })

  test('a batch sent again is not counted again, nor is an id that a batch repeats', async () => {
    const { insertBatch, daysOf } = await prepare()
    const batch = [generation('gen-1'), generation('gen-2')]
    await insertBatch(batch)
    await insertBatch([...batch, generation('gen-3'), generation('gen-3')])
    expect(await daysOf()).toMatchObject([{ requests: 3, cost_nanos: 21 }])
  })

  test('a large batch is one transaction: one bad record and nothing is written', async () => {
    const { insertBatch, daysOf } = await prepare()
    const batch = Array.from({ length: 350 }, (_, index) => generation(`gen-${index}`, { keyHash: String(index % 150).padStart(64, '0') }))
    expect(await rejection(insertBatch([...batch, generation('bad', { costNanos: -1 })]))).toBeInstanceOf(Error)
    expect(await daysOf()).toEqual([])
    await insertBatch(batch)
    expect(await daysOf()).toHaveLength(150)
    expect((await daysOf()).reduce((sum, { requests }) => sum + requests, 0)).toBe(350)
  })

  test('batches of the same keys in parallel all count, whatever their order', async () => {
    const { insertBatch, daysOf } = await prepare()
    await Promise.all(
      Array.from({ length: 12 }, (_, batch) => {
        const records = Array.from({ length: 20 }, (_, index) =>
          generation(`gen-${batch}-${index}`, { keyHash: String(index).padStart(64, '0') }),
        )
        return insertBatch(batch % 2 === 0 ? records : records.toReversed())
      }),
    )
    expect((await daysOf()).map(({ requests }) => requests)).toEqual(Array.from({ length: 20 }, () => 12))
  })

  test('a name from upstream with U+0000 does not take the batch with it', async () => {
    const { store, insertBatch } = await prepare()
    await insertBatch([generation('gen-1', { model: 'a\u0000b', provider: '\u0000' })])
    expect(await store.get('gen-1', 'w-1')).toMatchObject({ model: 'a\uFFFDb', provider: '\uFFFD' })
  })

  test('deletes the oldest first, a limited number at a time, and keeps the usage', async () => {
    const { store, insertBatch, daysOf } = await prepare()
    await insertBatch(['1', '2', '3'].map((second) => generation(`gen-${second}`, { createdAt: `2026-11-19T00:00:0${second}.000Z` })))
    await insertBatch([generation('gen-young', { createdAt: T1 })])
    expect(await store.deleteOlderThan(T0, 2)).toBe(2)
    expect(await store.get('gen-1', 'w-1')).toBeNull()
    expect(await store.get('gen-3', 'w-1')).not.toBeNull()
    expect(await store.deleteOlderThan(T0, 2)).toBe(1)
    expect(await store.deleteOlderThan(T0, 2)).toBe(0)
    expect(await store.get('gen-young', 'w-1')).not.toBeNull()
    expect((await daysOf()).reduce((sum, { requests }) => sum + requests, 0)).toBe(4)
  })
})
