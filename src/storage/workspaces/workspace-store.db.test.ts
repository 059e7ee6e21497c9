import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { guardrailWith } from '../../../test/support/guardrail.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import type { DestinationSettings } from '../../contract/destination.ts'
import { DEFAULT_SETTINGS } from '../../contract/workspace-settings.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import { createDestinationStore } from '../broadcast/destination-store.ts'
import { createGuardrailStore } from '../guardrails/guardrail-store.ts'
import { type ByokRecord, createByokStore } from '../keys/byok-store.ts'
import { createKeyStore } from '../keys/key-store.ts'
import { DELETED_WITH_WORKSPACE } from '../tables/schema.ts'
import { T0, T1, T2 } from '../testing/preset-input.ts'
import { createMemberStore } from './member-store.ts'
import { createSessionStore } from './session-store.ts'
import { createWorkspaceStore, type WorkspaceRecord } from './workspace-store.ts'
import { keyRecord } from '../testing/key-record.ts'

const DESTINATION: DestinationSettings = {
  name: null,
  enabled: true,
  api_key_hashes: null,
  sampling_rate: 1,
  privacy_mode: false,
  broadcast_generation_cost: false,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: false,
  filter_rules: null,
  regions: ['global'],
}

describeEachEngine('workspace store', (engine) => {
  test('the defaults are made once, also when several nodes start at once', async () => {
    const location = await engine.locate()
    const nodes = await Promise.all(Array.from({ length: 4 }, () => engine.open(location)))
    const answers = await Promise.all(
      nodes.map((database, index) =>
        createWorkspaceStore(database).ensureDefaults({ workspaceId: `w-${index}`, userId: `u-${index}`, now: T0 }),
      ),
    )
    const [first] = answers
    expect(answers).toEqual(answers.map(() => first as (typeof answers)[number]))
    expect(first?.userId.slice(2)).toBe(first?.workspaceId.slice(2))
    const users = await nodes[0]?.kysely.selectFrom('users').select('id').execute()
    expect(users).toEqual([{ id: first?.userId ?? '' }])
  })

  const open = async () => {
    const database = await engine.open()
    const store = createWorkspaceStore(database)
    const members = createMemberStore(database)
    const owner = await store.ensureDefaults({ workspaceId: 'w-0', userId: 'u-0', now: T0 })
    const workspace = (id: string, slug: string): WorkspaceRecord => ({
      id,
      slug,
      name: slug,
      description: null,
      createdAt: T1,
      createdBy: owner.userId,
      updatedAt: T1,
      settings: DEFAULT_SETTINGS,
    })
    const make = (id: string, slug: string) => store.create(workspace(id, slug), `m-${id}`, changedBy())
    const member = (user_id: string) => ({
      id: crypto.randomUUID(),
      workspace_id: 'w-1',
      user_id,
      role: 'member' as const,
      created_at: T2,
      name: null,
      email: null,
    })
    return { database, store, members, workspace, make, member, log: createAuditLog(database, () => () => undefined) }
  }
  const PAGE = { offset: 0, limit: 10 }

  test('one of two that ask for a slug at once gets it', async () => {
    const { make } = await open()
    const made = await Promise.all([make('w-1', 'search'), make('w-2', 'search')])
    expect(made.toSorted((a, b) => Number(a) - Number(b))).toEqual([false, true])
  })

  test('one of many that change to a slug at once gets it, and the others are told', async () => {
    const { make, store } = await open()
    const ids = ['w-1', 'w-2', 'w-3', 'w-4', 'w-5', 'w-6']
    for (const id of ids) await make(id, id)
    const outcomes = await Promise.all(ids.map((id) => store.update(id, { slug: 'search', settings: {} }, changeAt(T2))))
    expect(outcomes.filter((outcome) => outcome === 'slug-taken')).toHaveLength(5)
    expect(await store.get('search')).not.toBeNull()
  })

  test('a key that is made while its workspace is deleted either prevents that or is not made', async () => {
    const { store, make, database } = await open()
    await make('w-1', 'search')
    const keys = createKeyStore(database)
    const hashes = ['a', 'b', 'c', 'd', 'e', 'f'].map((digit) => digit.repeat(64))
    const [deletion, ...insertions] = await Promise.allSettled([
      store.delete('w-1', changeAt(T2)),
      ...hashes.map((hash) => keys.insert(keyRecord({ hash, workspaceId: 'w-1' }), changedBy())),
    ])
    const made = insertions.filter(({ status }) => status === 'fulfilled')
    expect(deletion).toEqual({ status: 'fulfilled', value: made.length === 0 ? 'deleted' : 'has-keys' })
    for (const insertion of insertions) if (insertion.status === 'rejected') expect(insertion.reason).toMatchObject({ type: 'not_found' })
    const live = await Promise.all(hashes.map((hash) => keys.get(hash)))
    expect(live.filter((key) => key !== null)).toHaveLength(made.length)
  })

  test('what is made in a workspace that was deleted meanwhile is not made, so nothing of it stays', async () => {
    const { store, make, member, members, database } = await open()
    await make('w-1', 'search')
    await store.delete('w-1', changeAt(T2))
    const guardrails = createGuardrailStore(database)
    const guardrail = { ...guardrailWith({}).guardrail, workspace_id: 'w-1' }
    const providerKey: ByokRecord = {
      id: 'b-1',
      workspaceId: 'w-1',
      provider: 'fake',
      label: 'sk-…wxyz',
      use: {
        name: 'Ours',
        disabled: false,
        is_fallback: true,
        is_required: false,
        is_byok_only: false,
        declared_zdr: null,
        sort_order: 0,
        allowed_models: null,
        allowed_user_ids: null,
        allowed_api_key_hashes: null,
      },
      version: 1,
      sealedSecret: 'sealed',
      wrappedDataKey: 'wrapped',
      kekId: 'first',
      createdAt: T2,
      updatedAt: T2,
    }
    const link = { id: 'l-1', digest: 'digest', workspace_id: 'w-1', user_id: 'u-1', created_at: T2, expires_at: T2, role: null }
    const made = await Promise.allSettled([
      guardrails.insert(guardrail, changedBy()),
      guardrails.upsertDefault(guardrail, () => guardrail, changeAt(T2)),
      createByokStore(database).insert(providerKey, 'w-1', changedBy()),
      members.add([member('u-1')], changeAt(T2)),
      createSessionStore(database).addLink(link, 'm-1', changedBy()),
    ])
    expect(made.map((one) => (one.status === 'rejected' ? one.reason : null))).toEqual(
      made.map(() => expect.objectContaining({ type: 'not_found' })),
    )
    for (const table of DELETED_WITH_WORKSPACE) {
      const { rows } = await sql`select 1 from ${sql.table(table)} where workspace_id = 'w-1'`.execute(database.kysely)
      expect([table, rows.length]).toEqual([table, 0])
    }
  })

  test('read by id and by slug; what is changed leaves the rest; settings that were never set have their defaults', async () => {
    const { store, make, workspace, database } = await open()
    await make('w-1', 'search')
    expect([await store.get('w-1'), await store.get('search')]).toEqual([workspace('w-1', 'search'), workspace('w-1', 'search')])
    const changed = await store.update('w-1', { name: 'y', settings: { default_text_model: 'a/one' } }, changeAt(T2))
    expect(changed).toEqual({
      ...workspace('w-1', 'search'),
      name: 'y',
      updatedAt: T2,
      settings: { ...DEFAULT_SETTINGS, default_text_model: 'a/one' },
    })
    expect(await store.get('search')).toEqual(changed as WorkspaceRecord)
    expect(await store.update('w-1', { slug: 'default', settings: {} }, changeAt(T2))).toBe('slug-taken')
    expect(await store.update('never', { name: 'y', settings: {} }, changeAt(T2))).toBe('unknown')
    await database.kysely.updateTable('workspaces').set({ settings: '{}' }).where('id', '=', 'w-1').execute()
    expect((await store.get('w-1'))?.settings).toEqual(DEFAULT_SETTINGS)
    expect((await store.list({ onlyId: null, ...PAGE })).items.map(({ id }) => id)).toEqual(['w-0', 'w-1'])
    expect(await store.list({ onlyId: 'w-1', ...PAGE })).toMatchObject({ totalCount: 1 })
  })

  test('deleted only without keys; its slug is free again, its members are gone, its audit log is not', async () => {
    const { store, members, make, database, log } = await open()
    await make('w-1', 'search')
    const keys = createKeyStore(database)
    const hash = 'a'.repeat(64)
    await keys.insert(keyRecord({ hash, workspaceId: 'w-1', creatorUserId: 'u-0', disabled: true }), changedBy())
    expect(await store.delete('w-1', changeAt(T2))).toBe('has-keys')
    expect(await members.remove('w-1', ['u-0'], changeAt(T2))).toEqual(['u-0'])
    expect([await keys.hasAll('w-1', [hash, hash]), await keys.hasAll('w-0', [hash]), await keys.hasAll(null, [hash])]).toEqual([
      true,
      false,
      true,
    ])
    await keys.revoke('w-1', hash, changeAt(T2))
    expect(await store.delete('w-1', changeAt(T2))).toBe('deleted')
    expect(await store.delete('w-1', changeAt(T2))).toBe('unknown')
    expect([await store.get('w-1'), await store.get('search'), await members.list('w-1', PAGE)]).toEqual([
      null,
      null,
      { items: [], totalCount: 0 },
    ])
    expect(await make('w-2', 'search')).toBe(true)
    expect((await log.list({ workspaceId: 'w-1', ...PAGE })).items.map(({ action }) => action)).toContain('deleted')
  })

  /** Tables that name a workspace and keep their rows when it is deleted. */
  const STAY: Readonly<Record<string, string>> = {
    activity_days: 'Figures of the past stay.',
    api_keys: 'A workspace that has a key is not deleted, and keys that were revoked stay for history.',
    audit_log: 'It says who deleted the workspace.',
    credit_entries: 'Money that was paid is accounted for.',
    evaluations: 'They belong to a preset, which is history.',
    generations: 'Records of requests are kept for their time.',
    generation_contents: 'Each has an end of its own.',
    hold: 'A request that still runs is settled.',
    idempotency_keys: 'Each has an end of its own.',
    ledger: 'Money that was spent is accounted for.',
    observability_destinations: 'Their rows are emptied, and stay for what refers to them.',
    presets: 'They are history, and names in records.',
    sessions: 'Each ends with its membership.',
    usage_days: 'Figures of the past stay.',
    usage_hours: 'Figures of the past stay.',
    workspace_counts: 'Presets and entries of the audit log stay, and so does how many they are.',
    workspace_spend: 'Money that was spent is accounted for.',
  }

  test('each table that names a workspace is deleted with it, or says here why it stays', async () => {
    const database = await engine.open()
    const tables = await database.kysely.introspection.getTables()
    const naming = tables.filter(({ columns }) => columns.some(({ name }) => name === 'workspace_id')).map(({ name }) => name)
    expect(naming.toSorted()).toEqual([...DELETED_WITH_WORKSPACE, ...Object.keys(STAY)].toSorted())
  })

  test('members are added once, and removed with a count; an entry only where somebody came or went', async () => {
    const { members, make, member, log } = await open()
    await make('w-1', 'search')
    const entries = async () => (await log.list({ workspaceId: 'w-1', ...PAGE })).totalCount
    const before = await entries()
    expect((await members.add([member('a'), member('b')], changeAt(T2))).map(({ user_id }) => user_id)).toEqual(['a', 'b'])
    expect(await members.add([member('a')], changeAt(T2))).toEqual([])
    expect([await members.has('w-1', 'a'), await members.has('w-0', 'a')]).toEqual([true, false])
    expect((await members.list('w-1', { offset: 1, limit: 1 })).totalCount).toBe(3)
    expect(await members.remove('w-1', ['a', 'never'], changeAt(T2))).toBe(1)
    expect(await members.remove('w-1', ['a'], changeAt(T2))).toBe(0)
    expect(await entries()).toBe(before + 2)
  })

  test('a member who leaves takes along what is theirs in this workspace: nothing of other members, of keys, or elsewhere', async () => {
    const { database, members, make, member } = await open()
    for (const id of ['w-1', 'w-2']) {
      await make(id, id)
      await members.add(
        ['a', 'b'].map((user_id) => ({ ...member(user_id), workspace_id: id })),
        changeAt(T2),
      )
    }
    // Neither a key that is revoked nor one of another workspace keeps a member here.
    const keys = createKeyStore(database)
    const keyOf = (digit: string, workspaceId: string) => keyRecord({ hash: digit.repeat(64), workspaceId, creatorUserId: 'a' })
    for (const key of [keyOf('1', 'w-1'), keyOf('2', 'w-2')]) await keys.insert(key, changedBy())
    expect(await members.remove('w-1', ['a'], changeAt(T2))).toEqual(['a'])
    await keys.revoke('w-1', '1'.repeat(64), changeAt(T2))

    const subjects = ['w-1', 'w-2'].flatMap((workspace_id) =>
      (['member', 'key'] as const).flatMap((subject_kind) =>
        ['a', 'b'].map((subject) => ({ id: `${workspace_id} ${subject_kind} ${subject}`, workspace_id, subject_kind, subject })),
      ),
    )
    await createGuardrailStore(database).insert({ ...guardrailWith({}).guardrail, id: 'g-1', workspace_id: 'w-1' }, changedBy())
    await database.transaction(async (transaction) => {
      const rest = { guardrail_id: 'g-1', assigned_by: null, created_at: T2 }
      const rows = subjects.map((subject) => ({ ...subject, ...rest }))
      await transaction.insertInto('guardrail_assignments').values(rows).execute()
    })
    const left = async (table: 'guardrail_assignments' | 'workspace_members') =>
      (await database.kysely.selectFrom(table).selectAll().orderBy('id').execute()) as readonly object[]
    const [people, assigned] = [await left('workspace_members'), await left('guardrail_assignments')]
    expect(await members.remove('w-1', ['a'], changeAt(T2))).toBe(1)
    const gone = { workspace_id: 'w-1', subject_kind: 'member', subject: 'a' }
    const isGone = (row: object, of: object): boolean => Object.entries(of).every(([name, value]) => Reflect.get(row, name) === value)
    expect(await left('guardrail_assignments')).toEqual(assigned.filter((row) => !isGone(row, gone)))
    expect(await left('workspace_members')).toEqual(people.filter((row) => !isGone(row, { workspace_id: 'w-1', user_id: 'a' })))

    const before = await left('workspace_members')
    await members.update({ workspaceId: 'w-1', userId: 'b' }, { role: 'admin', name: 'Bea' }, changeAt(T2))
    expect((await left('workspace_members')).filter((row) => !isGone(row, { workspace_id: 'w-1', user_id: 'b' }))).toEqual(
      before.filter((row) => !isGone(row, { workspace_id: 'w-1', user_id: 'b' })),
    )
  })

  test('a workspace that is deleted empties its own destinations of traces, and none of another', async () => {
    const { database, store, make } = await open()
    const destinations = createDestinationStore(database, testSeal)
    for (const id of ['w-1', 'w-2']) {
      await make(id, id)
      await store.update(id, { settings: { is_observability_broadcast_enabled: true } }, changeAt(T2))
      const settings = { ...DESTINATION, name: id }
      const config = { url: 'https://traces.example/' }
      await destinations.insert(
        { id, workspaceId: id, type: 'webhook', config, settings, createdAt: T2, updatedAt: T2 },
        config,
        changedBy(),
      )
    }
    const elsewhere = await destinations.get(null, 'w-2')
    await store.delete('w-1', changeAt(T2))
    expect([await destinations.get(null, 'w-1'), await destinations.get(null, 'w-2')]).toEqual([null, elsewhere])
    const rows = await database.kysely.selectFrom('observability_destinations').select(['id', 'sealed_config']).orderBy('id').execute()
    expect(rows.map(({ sealed_config: sealed }) => sealed === '')).toEqual([true, false])
  })

  test('requests that add the same people at once write their rows in one order, so none waits for one that waits for it', async () => {
    const { database, members, make, member } = await open()
    await make('w-1', 'search')
    await members.add(['c', 'a', 'b'].map(member), changeAt(T2))
    const written = await sql<{ user_id: string }>`select user_id from workspace_members where workspace_id = 'w-1' and role = 'member'
      order by ${sql.ref(database.engine === 'sqlite' ? 'rowid' : 'ctid')}`.execute(database.kysely)
    expect(written.rows.map(({ user_id }) => user_id)).toEqual(['a', 'b', 'c'])
  })
})
