import { expect, test } from 'bun:test'

import { changeAt } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { auditLedger } from '../ledger/ledger-audit.ts'
import { preparePresets } from '../testing/preset-input.ts'
import { settlementOf } from '../testing/settlement.ts'
import { countOf } from './workspace-counts.ts'
import { createMemberStore } from '../workspaces/member-store.ts'
import { createWorkspaceStore } from '../workspaces/workspace-store.ts'
import { generationRecord } from '../testing/generation-record.ts'

const T1 = '2026-11-20T10:00:00.000Z'

describeEachEngine('sums of workspaces', (engine) => {
  test('presets are counted by their status as it changes, and each change in the audit log', async () => {
    const database = await engine.open()
    const { store, create, workspaceId } = await preparePresets(database)
    const counted = async () => [
      await countOf(database.kysely, workspaceId, ['presets/active']),
      await countOf(database.kysely, workspaceId, ['presets/archived']),
    ]
    const listed = async (status?: 'active' | 'archived') => (await store.list({ workspaceId, status, offset: 0, limit: 1 })).totalCount
    for (const slug of ['a', 'b', 'c']) await create(slug)
    expect(await counted()).toEqual([3, 0])
    await store.archive({ workspaceId, slug: 'b' }, changeAt(T1))
    await store.archive({ workspaceId, slug: 'b' }, changeAt(T1))
    expect(await counted()).toEqual([2, 1])
    expect([await listed(), await listed('active'), await listed('archived')]).toEqual([3, 2, 1])
    expect((await store.list({ workspaceId, q: 'a', offset: 0, limit: 1 })).totalCount).toBe(1)

    const log = createAuditLog(database, () => () => undefined)
    const entries = await database.kysely.selectFrom('audit_log').select('workspace_id').execute()
    const own = entries.filter(({ workspace_id }) => workspace_id === workspaceId)
    expect((await log.list({ workspaceId, offset: 0, limit: 1 })).totalCount).toBe(own.length)
    expect((await log.list({ workspaceId: null, offset: 0, limit: 1 })).totalCount).toBe(entries.length)
    expect((await log.list({ workspaceId, action: 'archived', offset: 0, limit: 1 })).totalCount).toBeLessThan(own.length)
    await database.close()
  })

  test('members who come at once, twice and go, and those of a workspace that is deleted', async () => {
    const database = await engine.open()
    const { workspaceId } = await preparePresets(database)
    const store = createWorkspaceStore(database)
    const members = createMemberStore(database)
    const member = (user_id: string) => ({
      id: `m-${user_id}`,
      workspace_id: workspaceId,
      user_id,
      role: 'member' as const,
      created_at: T1,
      name: null,
      email: null,
    })
    const before = await countOf(database.kysely, workspaceId, ['members'])
    await members.add([member('x'), member('y')], changeAt(T1))
    await members.add([member('x'), member('z')], changeAt(T1))
    expect(await countOf(database.kysely, workspaceId, ['members'])).toBe(before + 3)
    await members.remove(workspaceId, ['x', 'nobody'], changeAt(T1))
    expect((await members.list(workspaceId, { offset: 0, limit: 1 })).totalCount).toBe(before + 2)
    await store.delete(workspaceId, changeAt(T1))
    expect(await countOf(database.kysely, workspaceId, ['members'])).toBe(0)
    await database.close()
  })

  test('spend is added once for a request that is settled twice, by the workspace, and free ones leave no row', async () => {
    const database = await engine.open()
    const cost = (id: string, workspaceId: string, costNanos: number) =>
      settlementOf(
        generationRecord({
          id,
          createdAt: T1,
          workspaceId,
          keyHash: `key of ${workspaceId}`,
          model: 'm/1',
          tokensPrompt: 3,
          tokensCompletion: 2,
          costNanos,
          byokCostNanos: 5,
        }),
      )
    const { settle } = createLedgerStore(database)
    await settle([cost('gen-1', 'w-2', 3_000_000_000), cost('gen-2', 'w-1', 20), cost('gen-2', 'w-1', 20), cost('gen-3', 'free', 0)])
    await settle([cost('gen-1', 'w-2', 3_000_000_000), cost('gen-4', 'w-1', 1)])
    expect(await database.kysely.selectFrom('workspace_spend').selectAll().orderBy('workspace_id').execute()).toEqual([
      { workspace_id: 'w-1', cost_nanos: 21 },
      { workspace_id: 'w-2', cost_nanos: 3_000_000_000 },
    ])
    // No key has spent it: that is what the invariant checks.
    expect((await auditLedger(database, T1)).filter(({ invariant }) => invariant === 'I11')).toHaveLength(2)
    await database.close()
  })
})
