import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine, type TestEngine } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import type { DestinationSettings } from '../../contract/destination.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import { createDestinationStore, DESTINATIONS_MAX, type DestinationRecord } from './destination-store.ts'
import { preparePresets, T0, T1 } from '../testing/preset-input.ts'
import { createWorkspaceStore } from '../workspaces/workspace-store.ts'

const SECRET = 'a-long-secret-of-ours'
const SHOWN = { url: 'https://traces.example/', secret: 'a-l…ours' }

const SETTINGS: DestinationSettings = {
  name: null,
  enabled: true,
  api_key_hashes: ['ab'.repeat(32)],
  sampling_rate: 0.5,
  privacy_mode: true,
  broadcast_generation_cost: true,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: true,
  filter_rules: null,
  regions: ['global'],
}

const open = async (engine: TestEngine) => {
  const database = await engine.open()
  const { workspaceId } = await preparePresets(database)
  const record = (id: string, more: Partial<DestinationRecord> = {}, settings: Partial<DestinationSettings> = {}): DestinationRecord => ({
    id,
    workspaceId,
    type: 'webhook',
    config: { url: 'https://traces.example/', secret: SECRET },
    settings: { ...SETTINGS, name: id, ...settings },
    createdAt: T0,
    updatedAt: T0,
    ...more,
  })
  const store = createDestinationStore(database, testSeal)
  const workspaces = createWorkspaceStore(database)
  const insert = (one: DestinationRecord) => store.insert(one, SHOWN, changedBy())
  const broadcast = (isEnabled: boolean) =>
    workspaces.update(workspaceId, { settings: { is_observability_broadcast_enabled: isEnabled } }, changeAt(T1))
  return { database, workspaceId, record, store, insert, broadcast, workspaces, log: createAuditLog(database, () => () => undefined) }
}

const ids = (records: readonly DestinationRecord[]): string[] => records.map(({ id }) => id).toSorted()

describeEachEngine('destinations of traces', (engine) => {
  test.each([null, [[]], {}, { ...SETTINGS, privacy_mode: undefined }, { ...SETTINGS, filter_rules: 5 }])(
    'settings of another form do not let contents out: %j',
    async (wrong) => {
      const { store, record, insert, broadcast, database } = await open(engine)
      await insert(record('one'))
      await broadcast(true)
      await database.kysely
        .updateTable('observability_destinations')
        .set({ settings: JSON.stringify(wrong) })
        .execute()
      const { read, damaged } = await store.inForce()
      expect([read, damaged.map(({ id }) => id)]).toEqual([[], ['one']])
    },
  )

  test('one comes back as it was, to its own workspace alone', async () => {
    const { store, record, insert, workspaceId } = await open(engine)
    const one = record('one')
    expect(await insert(one)).toBeNull()
    expect([await store.get(null, 'one'), await store.get(workspaceId, 'one')]).toEqual([one, one])
    expect([await store.get('another', 'one'), await store.get(null, 'two')]).toEqual([null, null])
  })

  test('no secret of a configuration is readable in its row, and the audit log has what was shown', async () => {
    const { database, store, record, insert, workspaceId, log } = await open(engine)
    const one = record('one')
    await insert(one)
    await store.replace(one, { ...one, config: { ...one.config, method: 'PUT' }, updatedAt: T1 }, SHOWN, changedBy())
    const rows = await database.kysely.selectFrom('observability_destinations').selectAll().execute()
    expect(rows).toHaveLength(1)
    for (const kept of [SECRET, 'traces.example']) expect(JSON.stringify(rows)).not.toContain(kept)
    const { items, totalCount } = await log.list({ workspaceId, objectType: 'observability_destination', offset: 0, limit: 10 })
    expect(totalCount).toBe(2)
    expect(JSON.stringify(items)).not.toContain(SECRET)
    expect(JSON.stringify(items)).toContain(SHOWN.secret)
  })

  test('a sealed configuration that is moved to another row does not open', async () => {
    const { database, store, record, insert } = await open(engine)
    await insert(record('one'))
    await insert(record('two'))
    const { sealed_config } = await database.kysely
      .selectFrom('observability_destinations')
      .select('sealed_config')
      .where('id', '=', 'one')
      .executeTakeFirstOrThrow()
    await database.kysely.updateTable('observability_destinations').set({ sealed_config }).where('id', '=', 'two').execute()
    expect(await store.get(null, 'one')).not.toBeNull()
    expect(store.get(null, 'two')).rejects.toThrow()
  })

  test('the oldest stand first, a page at a time, of one workspace', async () => {
    const { store, record, insert, workspaceId } = await open(engine)
    await insert(record('late', { createdAt: T1 }))
    await insert(record('b'))
    await insert(record('a'))
    const page = async (offset: number) => {
      const { items, totalCount } = await store.list(workspaceId, { offset, limit: 2 })
      return [items.map(({ id }) => id), totalCount]
    }
    expect([await page(0), await page(2)]).toEqual([
      [['a', 'b'], 3],
      [['late'], 3],
    ])
    expect(await store.list('another', { offset: 0, limit: 2 })).toEqual({ items: [], totalCount: 0 })
  })

  test('a name is taken once among those that are there, and one without a name takes none', async () => {
    const { store, record, insert } = await open(engine)
    const one = record('one', {}, { name: 'Ours' })
    const two = record('two', {}, { name: 'Theirs' })
    expect([await insert(one), await insert(two), await insert(record('three', {}, { name: 'Ours' }))]).toEqual([null, null, 'name'])
    expect([await insert(record('four', {}, { name: null })), await insert(record('five', {}, { name: null }))]).toEqual([null, null])
    const renamed = { ...two, settings: { ...two.settings, name: 'Ours' }, updatedAt: T1 }
    expect(await store.replace(two, renamed, SHOWN, changedBy())).toBe('name')
    // Its own name is no conflict, and the name of a deleted destination is free.
    expect(await store.replace(one, { ...one, updatedAt: T1 }, SHOWN, changedBy())).toBeNull()
    expect(await store.delete(null, one.id, changeAt(T1))).toBe(true)
    expect(await store.replace(two, renamed, SHOWN, changedBy())).toBeNull()
  })

  test('of many that are made at once no more stay than a type may have, and another type has its own places', async () => {
    const { store, record, insert, workspaceId } = await open(engine)
    const made = await Promise.all(Array.from({ length: DESTINATIONS_MAX + 3 }, (_, number) => insert(record(`d${number}`))))
    expect(made.filter((conflict) => conflict === null)).toHaveLength(DESTINATIONS_MAX)
    expect(made.filter((conflict) => conflict === 'count')).toHaveLength(3)
    expect(await insert(record('other', { type: 'otel-collector' }))).toBeNull()
    expect((await store.list(workspaceId, { offset: 0, limit: 100 })).totalCount).toBe(DESTINATIONS_MAX + 1)
  })

  test('of two changes of what was read once, one is refused, and a deleted one is not changed', async () => {
    const { store, record, insert } = await open(engine)
    const before = record('one')
    await insert(before)
    const change = (sampling: number) =>
      store.replace(before, { ...before, settings: { ...before.settings, sampling_rate: sampling }, updatedAt: T1 }, SHOWN, changedBy())
    const outcomes = await Promise.all([change(0.1), change(0.2)])
    expect(new Set(outcomes)).toEqual(new Set(['changed', null]))
    const after = await store.get(null, 'one')
    expect(after?.settings.sampling_rate).toBe(outcomes[0] === null ? 0.1 : 0.2)
    expect(await store.delete(null, before.id, changeAt(T1))).toBe(true)
    expect(await change(0.3)).toBe('changed')
  })

  test('a deleted one leaves its row without its configuration, and goes once', async () => {
    const { database, store, record, insert, workspaceId, broadcast } = await open(engine)
    await broadcast(true)
    const one = record('one')
    await insert(one)
    expect([await store.delete(null, one.id, changeAt(T1)), await store.delete(null, one.id, changeAt(T1))]).toEqual([true, false])
    expect(await store.get(null, 'one')).toBeNull()
    expect([(await store.list(workspaceId, { offset: 0, limit: 10 })).totalCount, (await store.inForce()).read]).toEqual([0, []])
    const rows = await database.kysely.selectFrom('observability_destinations').select(['id', 'sealed_config', 'deleted_at']).execute()
    expect(rows).toEqual([{ id: 'one', sealed_config: '', deleted_at: T1 }])
  })

  test('in force are those that are enabled, of workspaces that broadcast', async () => {
    const { store, record, insert, broadcast } = await open(engine)
    await insert(record('on'))
    await insert(record('off', {}, { enabled: false }))
    const inForce = async () => ids((await store.inForce()).read)
    expect(await inForce()).toEqual([])
    await broadcast(true)
    expect(await inForce()).toEqual(['on'])
    await broadcast(false)
    expect(await inForce()).toEqual([])
  })
})
