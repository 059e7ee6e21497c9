import { expect, test } from 'bun:test'

import { changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { createBudgetStore, createCreditStore } from '../ledger/budget-store.ts'
import { createKeyStore } from '../keys/key-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { settlementOf } from '../testing/settlement.ts'
import { createReadWorkspaceFigures } from './workspace-figures.ts'
import { keyRecord } from '../testing/key-record.ts'
import { generationRecord } from '../testing/generation-record.ts'

const T0 = '2026-10-31T23:30:00.000Z'
const T1 = '2026-11-01T00:30:00.000Z'
/** The first of November was a Sunday. */
const WINDOWS = { day: '2026-11-01', week: '2026-10-26', month: '2026-11-01' }

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
    settlementOf(
      generationRecord({
        id,
        createdAt,
        workspaceId,
        keyHash: key.repeat(64),
        model: 'm/1',
        tokensPrompt: 3,
        tokensCompletion: 2,
        costNanos,
        byokCostNanos: 5,
      }),
    )

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
    const figures = await createReadWorkspaceFigures(database)(['w-1', 'w-2', 'w-3'], WINDOWS)
    const budgets: never[] = []
    expect([...figures]).toEqual([
      ['w-1', { members: 0, keys: 1, spentNanos: 20, budgets, credit: { totalNanos: 7_000_000_000, spentNanos: 1_000_000_021 } }],
      ['w-2', { members: 0, keys: 1, spentNanos: 300, budgets, credit: null }],
      ['w-3', { members: 0, keys: 0, spentNanos: 0, budgets, credit: null }],
    ])
    await database.close()
  })

  test('a budget counts what its window holds, or what was spent since it would begin if there is none; no window is written', async () => {
    const database = await prepare()
    const ledger = createLedgerStore(database)
    await ledger.settle([cost('gen-1', T0, 'w-1', 'a', 1000), cost('gen-2', T1, 'w-1', 'a', 20), cost('gen-3', T1, 'w-2', 'b', 300)])
    const budgets = createBudgetStore(database)
    for (const span of ['daily', 'weekly', 'monthly', 'lifetime'] as const)
      for (const workspaceId of ['w-1', 'w-2']) {
        const budget = {
          id: `${workspaceId}-${span}`,
          workspaceId,
          span,
          limitNanos: 5000,
          includeByok: true,
          createdAt: T1,
          updatedAt: T1,
        }
        await budgets.put(budget, changedBy(), { check: () => undefined, shareByok: false })
      }
    const windows = () => database.kysely.selectFrom('scope_window').selectAll().execute()
    const read = async (id: string) => {
      const figures = await createReadWorkspaceFigures(database)(['w-1', 'w-2'], WINDOWS)
      return Object.fromEntries(
        figures.get(id)?.budgets.map(({ span, chargedNanos, byokNanos }) => [span, [chargedNanos, byokNanos]]) ?? [],
      )
    }
    expect(await read('w-1')).toEqual({ daily: [20, 5], weekly: [1020, 10], monthly: [20, 5], lifetime: [1020, 0] })
    expect(await windows()).toEqual([])
    await ledger.read([{ subject: 'workspace:w-1', span: 'lifetime', start: '', end: null }])
    expect(await read('w-1')).toEqual({ daily: [20, 5], weekly: [1020, 10], monthly: [20, 5], lifetime: [1020, 10] })
    expect(await read('w-2')).toMatchObject({ daily: [300, 5], lifetime: [300, 0] })
    expect(await windows()).toHaveLength(1)
    await database.close()
  })

  test('none where none is asked for', async () => {
    const database = await engine.open()
    expect(await createReadWorkspaceFigures(database)([], WINDOWS)).toEqual(new Map())
    await database.close()
  })
})
