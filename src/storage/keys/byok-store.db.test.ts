import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine, type TestEngine } from '../../../test/support/databases.ts'
import type { Reach } from '../../canonical/reach.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import { createByokStore, type ByokRecord } from './byok-store.ts'
import { createChangeCounter } from '../changes/change-counter.ts'
import { preparePresets, T0, T1 } from '../testing/preset-input.ts'
import { rejectionText } from '../testing/rejection.ts'

const open = async (engine: TestEngine) => {
  const database = await engine.open()
  const { workspaceId } = await preparePresets(database)
  const record = (id: string, more: Partial<ByokRecord> = {}, use: Partial<ByokRecord['use']> = {}): ByokRecord => ({
    id,
    workspaceId,
    provider: 'fake',
    label: 'sk-…wxyz',
    use: {
      name: 'Ours',
      disabled: false,
      is_fallback: true,
      is_required: false,
      is_byok_only: false,
      declared_zdr: true,
      sort_order: 0,
      allowed_models: ['a/one'],
      allowed_user_ids: null,
      allowed_api_key_hashes: ['ab'.repeat(32)],
      ...use,
    },
    version: 1,
    sealedSecret: 'sealed',
    wrappedDataKey: 'wrapped',
    kekId: 'first',
    createdAt: T0,
    updatedAt: T0,
    ...more,
  })
  const store = createByokStore(database)
  const insert = (one: ByokRecord) => store.insert(one, workspaceId, changedBy())
  return {
    database,
    workspaceId,
    record,
    store,
    insert,
    counter: createChangeCounter(database),
    log: createAuditLog(database, () => () => undefined),
  }
}

describeEachEngine('provider keys', (engine) => {
  test.each(['null', '{}', '[5]', '"a/one"'])('lists of another form open no key to everybody: %s', async (wrong) => {
    const { store, record, insert, workspaceId, database } = await open(engine)
    await insert(record('one'))
    for (const list of ['allowed_models', 'allowed_api_key_hashes', 'allowed_user_ids'] as const) {
      await database.kysely
        .updateTable('byok_keys')
        .set({ allowed_models: null, [list]: wrong })
        .execute()
      expect(await rejectionText(store.inForce(workspaceId))).toStartWith('The row "one" of the table byok_keys cannot be read.')
    }
  })

  test('a key comes back as it was, and goes with all of itself', async () => {
    const { store, record, insert, workspaceId, database, counter } = await open(engine)
    const one = record('one')
    const bare = record(
      'bare',
      { workspaceId: null },
      { name: null, declared_zdr: null, allowed_models: null, allowed_api_key_hashes: null },
    )
    const before = await counter.read()
    for (const each of [one, bare]) await insert(each)
    expect(await counter.read()).toBe(before + 2)
    expect([await store.get('one'), await store.get('bare'), await store.get('other')]).toEqual([one, bare, null])
    const reach = { workspaceId, everywhere: false, isOperator: false, onlyUserId: null }
    const gone = async (id: string, more: Partial<Reach>) => store.delete({ ...reach, ...more }, id, changeAt(T1))
    expect([await gone('one', { workspaceId: 'another' }), await gone('bare', {}), await gone('bare', { everywhere: true })]).toEqual([
      null,
      null,
      null,
    ])
    expect([await gone('one', {}), await gone('one', {})]).toEqual([{ workspaceId }, null])
    const rows = await database.kysely.selectFrom('byok_keys').select('id').execute()
    expect(rows).toEqual([{ id: 'bare' }])
  })

  test('in force: those of the workspace and those for all, in their order, without the disabled', async () => {
    const { store, record, insert, workspaceId } = await open(engine)
    await insert(record('late', {}, { sort_order: 2 }))
    await insert(record('early', { workspaceId: null }, { sort_order: 1 }))
    await insert(record('off', {}, { disabled: true }))
    expect((await store.inForce(workspaceId)).map(({ id }) => id)).toEqual(['early', 'late'])
    expect((await store.inForce('another')).map(({ id }) => id)).toEqual(['early'])
    const ids = async (everywhere: boolean, provider?: string) =>
      (await store.list({ workspaceId, everywhere, provider, offset: 0, limit: 10 })).items.map(({ id }) => id)
    expect([await ids(true), await ids(false), await ids(true, '%')]).toEqual([['off', 'early', 'late'], ['off', 'late'], []])
    expect([await store.nextSortOrder(workspaceId, 'fake'), await store.nextSortOrder(null, 'fake')]).toEqual([3, 2])
    expect(await store.nextSortOrder(workspaceId, 'other')).toBe(0)
  })

  test('of two changes of what was read once, one is refused', async () => {
    const { store, record, insert, workspaceId, log } = await open(engine)
    const before = record('one')
    await insert(before)
    const change = (label: string) => store.replace({ ...before, version: 2, label, updatedAt: T1 }, before, workspaceId, changedBy())
    expect((await Promise.all([change('a'), change('b')])).toSorted((a, b) => Number(a) - Number(b))).toEqual([false, true])
    const { items, totalCount } = await log.list({ workspaceId, objectType: 'provider_key', offset: 0, limit: 10 })
    expect(totalCount).toBe(2)
    for (const secret of ['sealed', 'wrapped']) expect(JSON.stringify(items)).not.toContain(secret)
  })

  test('changed while its data key is wrapped anew keeps the new wrapping, and gets a new secret whole', async () => {
    const { store, record, insert, workspaceId } = await open(engine)
    const before = record('one')
    await insert(before)
    await store.rewrap({ ...before, wrappedDataKey: 'anew', kekId: 'second' })
    expect(await store.replace({ ...before, label: 'a', updatedAt: T1 }, before, workspaceId, changedBy())).toBe(true)
    const renamed = await store.get('one')
    expect(renamed).toMatchObject({ label: 'a', sealedSecret: 'sealed', wrappedDataKey: 'anew', kekId: 'second' })
    const secret = { version: 2, sealedSecret: 'other', wrappedDataKey: 'of other', kekId: 'first' }
    const read = { ...before, label: 'a', updatedAt: T1 }
    expect(await store.replace({ ...read, ...secret }, read, workspaceId, changedBy())).toBe(true)
    expect(await store.get('one')).toMatchObject(secret)
  })

  test('wrapped anew only as the version that was read', async () => {
    const { store, record, insert, workspaceId } = await open(engine)
    await insert(record('one'))
    await insert(record('two', { kekId: 'second' }))
    expect((await store.sealedUnderOther('second', 10)).map(({ id }) => id)).toEqual(['one'])
    await store.rewrap(record('one', { version: 7, wrappedDataKey: 'stale', kekId: 'second' }))
    expect(await store.get('one')).toMatchObject({ wrappedDataKey: 'wrapped', kekId: 'first' })
    await store.rewrap(record('one', { wrappedDataKey: 'anew', kekId: 'second' }))
    expect(await store.get('one')).toMatchObject({ wrappedDataKey: 'anew', sealedSecret: 'sealed' })
    expect(await store.sealedUnderOther('second', 10)).toEqual([])
    expect((await store.inForce(workspaceId)).length).toBe(2)
  })
})
