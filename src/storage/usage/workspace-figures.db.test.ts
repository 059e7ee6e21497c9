import { expect, test } from 'bun:test'

import { changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { createCreditStore } from '../ledger/budget-store.ts'
import type { GenerationRecord } from '../generations/generation-store.ts'
import { createKeyStore } from '../keys/key-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { settlementOf } from '../testing/settlement.ts'
import { createReadWorkspaceFigures } from './workspace-figures.ts'
import { keyRecord } from '../testing/key-record.ts'

const T0 = '2026-10-31T23:30:00.000Z'
const T1 = '2026-11-01T00:30:00.000Z'

describeEachEngine('figures of workspaces', (engine) => {
  const prepare = async () => {
    const database = await engine.open()
    for (const [id, hash] of [
      ['w-1', 'a'],
      ['w-2', 'b'],
    ] as const) {
      await database.kysely
        .insertInto('workspaces')
        .values({
          id,
          slug: id,
          name: id,
          description: null,
          created_at: T0,
          created_by: 'u',
          updated_at: T0,
          settings: '{}',
          deleted_at: null,
        })
        .execute()
      await createKeyStore(database).insert(keyRecord({ hash: hash.repeat(64), workspaceId: id }), changedBy())
    }
    return database
  }
  const cost = (id: string, createdAt: string, workspaceId: string, key: string, costNanos: number) =>
    settlementOf({
      id,
      createdAt,
      workspaceId,
      keyHash: key.repeat(64),
      presetId: null,
      presetVersion: null,
      model: 'm/1',
      provider: 'p',
      streamed: false,
      cancelled: false,
      tokensPrompt: 3,
      tokensCompletion: 2,
      costNanos,
      byokCostNanos: 5,
      record: {},
    } satisfies GenerationRecord)

  test('spend is that of each workspace from the given hour on, and the use of credit that of all times', async () => {
    const database = await prepare()
    await createLedgerStore(database).settle([
      cost('gen-1', T0, 'w-1', 'a', 1_000_000_001),
      cost('gen-2', T1, 'w-1', 'a', 20),
      cost('gen-3', T1, 'w-2', 'b', 300),
    ])
    for (const [id, amountNanos] of [
      ['c-1', 9_000_000_000],
      ['c-2', -2_000_000_000],
    ] as const)
      await createCreditStore(database).add({ id, workspaceId: 'w-1', amountNanos, note: '', createdAt: T0 }, changedBy())
    const figures = await createReadWorkspaceFigures(database)(['w-1', 'w-2', 'w-3'], '2026-11-01T00')
    const limitsNanos = new Map()
    expect([...figures]).toEqual([
      ['w-1', { members: 0, keys: 1, spentNanos: 20, limitsNanos, credit: { totalNanos: 7_000_000_000, spentNanos: 1_000_000_021 } }],
      ['w-2', { members: 0, keys: 1, spentNanos: 300, limitsNanos, credit: null }],
      ['w-3', { members: 0, keys: 0, spentNanos: 0, limitsNanos, credit: null }],
    ])
    await database.close()
  })

  test('none where none is asked for', async () => {
    const database = await engine.open()
    expect(await createReadWorkspaceFigures(database)([], '2026-11-01T00')).toEqual(new Map())
    await database.close()
  })
})
