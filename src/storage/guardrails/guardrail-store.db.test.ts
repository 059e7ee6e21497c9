import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { guardrailWith } from '../../../test/support/guardrail.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { DEFAULT_SETTINGS } from '../../contract/workspace-settings.ts'
import type { GuardrailResource } from '../../contract/guardrail.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import { createChangeCounter } from '../changes/change-counter.ts'
import { createGuardrailAssignmentStore } from './guardrail-assignment-store.ts'
import { createGuardrailStore } from './guardrail-store.ts'
import type { KeyRecord } from '../keys/key-record.ts'
import { createKeyStore } from '../keys/key-store.ts'
import type { DatabaseLocation } from '../open-database.ts'
import { T0, T1, T2 } from '../testing/preset-input.ts'
import { createMemberStore } from '../workspaces/member-store.ts'
import { createWorkspaceStore } from '../workspaces/workspace-store.ts'
import { keyRecord } from '../testing/key-record.ts'

const hashOf = (digit: string): string => digit.repeat(64)

describeEachEngine('guardrail store', (engine) => {
  const prepare = async (location?: DatabaseLocation) => {
    const database = await engine.open(location)
    const workspaces = createWorkspaceStore(database)
    const members = createMemberStore(database)
    const { workspaceId, userId } = await workspaces.ensureDefaults({
      workspaceId: 'workspace-1',
      userId: 'user-1',
      now: T0,
    })
    const keys = createKeyStore(database)
    const key = (hash: string): KeyRecord => keyRecord({ hash, workspaceId, creatorUserId: userId, name: `key ${hash[0]}` })
    const guardrail = (id: string, createdAt = T0): GuardrailResource => ({
      ...guardrailWith({ limit_usd: 12.5, reset_interval: 'weekly', content_filters: [{ pattern: 'a"\\d', action: 'flag' }] }).guardrail,
      id,
      workspace_id: workspaceId,
      created_at: createdAt,
    })
    const store = createGuardrailStore(database)
    const assignments = createGuardrailAssignmentStore(database)
    const assign = (guardrailId: string, kind: 'key' | 'member', ...subjects: string[]) =>
      assignments.assign(
        { workspaceId, guardrailId, kind, assignments: subjects.map((subject) => ({ id: `${guardrailId}-${subject}`, subject })) },
        changeAt(T1),
      )
    return {
      workspaces,
      members,
      workspaceId,
      userId,
      keys,
      key,
      guardrail,
      store,
      assignments,
      assign,
      counter: createChangeCounter(database),
      log: createAuditLog(database, () => () => undefined),
    }
  }

  test('a guardrail comes back as it was inserted, to its workspace only; a change and a deletion are seen', async () => {
    const { store, guardrail, workspaceId, counter } = await prepare()
    const made = guardrail('g-1')
    const before = await counter.read()
    await store.insert(made, changedBy())
    expect(await store.get(workspaceId, 'g-1')).toEqual(made)
    expect(await store.get('another', 'g-1')).toBeNull()
    const renamed = { ...made, name: 'New name', limit_usd: null, reset_interval: null, updated_at: T2 }
    const change = (was: GuardrailResource) => ({ ...was, name: 'New name', limit_usd: null, reset_interval: null })
    expect(await store.update('another', 'g-1', change, changeAt(T2))).toBeNull()
    expect(await store.update(workspaceId, 'g-1', change, changeAt(T2))).toEqual(renamed)
    expect(await store.get(workspaceId, 'g-1')).toEqual(renamed)
    expect(await store.delete('another', 'g-1', changeAt(T2))).toBe(false)
    expect(await store.delete(workspaceId, 'g-1', changeAt(T2))).toBe(true)
    expect(await store.delete(workspaceId, 'g-1', changeAt(T2))).toBe(false)
    expect(await counter.read()).toBe(before + 3)
  })

  test('every change leaves one entry in the audit log, with what was and what is; what changes nothing leaves none', async () => {
    const { store, guardrail, assignments, assign, keys, key, log, workspaceId, userId } = await prepare()
    await store.insert(guardrail('g-1'), changedBy())
    await store.update(workspaceId, 'g-1', (was) => ({ ...was, name: 'New name' }), changeAt(T2))
    await store.update(workspaceId, 'never', (was) => was, changeAt(T2))
    await keys.insert(key(hashOf('a')), changedBy())
    await assign('g-1', 'key', hashOf('a'))
    await assign('g-1', 'key', hashOf('a'))
    await assign('g-1', 'member', userId)
    await assign('g-1', 'member', 'nobody')
    const off = { workspaceId, guardrailId: 'g-1', kind: 'key', subjects: [hashOf('a'), hashOf('f')] } as const
    await assignments.unassign(off, changeAt(T2))
    await assignments.unassign(off, changeAt(T2))
    await store.delete(workspaceId, 'g-1', changeAt(T2))
    await store.delete(workspaceId, 'g-1', changeAt(T2))
    const { items } = await log.list({ workspaceId, objectType: 'guardrail', objectId: 'g-1', offset: 0, limit: 20 })
    const of = (wanted: string): readonly unknown[] =>
      items.filter(({ action }) => action === wanted).map(({ before, after }) => [before, after])
    const renamed = { ...guardrail('g-1'), name: 'New name', updated_at: T2 }
    expect(of('created')).toEqual([[null, guardrail('g-1')]])
    expect(of('updated')).toEqual([[guardrail('g-1'), renamed]])
    expect(of('keys_assigned')).toEqual([[null, { key_hashes: [hashOf('a')] }]])
    expect(of('members_assigned')).toEqual([[null, { user_ids: [userId] }]])
    expect(of('keys_unassigned')).toEqual([[null, { key_hashes: [hashOf('a')] }]])
    expect(of('deleted')).toEqual([[renamed, null]])
    expect(items).toHaveLength(6)
  })

  test('go with their workspace, and a member who leaves it leaves them too', async () => {
    const { store, guardrail, assignments, workspaces, members, workspaceId, userId } = await prepare()
    const other = { id: 'w-1', slug: 'search', name: 'x', description: null, createdAt: T1, createdBy: userId, updatedAt: T1 }
    await workspaces.create({ ...other, settings: DEFAULT_SETTINGS }, 'm-1', changedBy())
    await store.insert(guardrail('g-1'), changedBy())
    await store.insert({ ...guardrail('g-2'), workspace_id: 'w-1' }, changedBy())
    const member = { id: 'm-2', workspace_id: 'w-1', user_id: 'ada', role: 'member', created_at: T1, name: null, email: null } as const
    await members.add([member], changeAt(T1))
    const to = ['ada', userId].map((subject) => ({ id: `a-${subject}`, subject }))
    const here = { workspaceId: 'w-1', guardrailId: 'g-2', kind: 'member' } as const
    expect(await assignments.assign({ ...here, assignments: to }, changeAt(T1))).toEqual({ assigned: 2 })
    const assigned = () => assignments.members({ workspaceId: 'w-1', guardrailId: null, offset: 0, limit: 10 })
    await members.remove('w-1', ['ada'], changeAt(T2))
    expect((await assigned()).items.map(({ user_id }) => user_id)).toEqual([userId])
    expect(await workspaces.delete('w-1', changeAt(T2))).toBe('deleted')
    expect([await store.get('w-1', 'g-2'), await assigned()]).toEqual([null, { items: [], totalCount: 0 }])
    expect(await store.get(workspaceId, 'g-1')).toEqual(guardrail('g-1'))
  })

  test('the list is the newest first, in pages', async () => {
    const { store, guardrail, workspaceId } = await prepare()
    for (const [id, at] of [
      ['g-1', T0],
      ['g-2', T1],
      ['g-3', T2],
    ] as const)
      await store.insert(guardrail(id, at), changedBy())
    const page = await store.list(workspaceId, { offset: 1, limit: 1 })
    expect(page).toMatchObject({ items: [{ id: 'g-2' }], totalCount: 3 })
    expect(await store.list('another', { offset: 0, limit: 10 })).toEqual({ items: [], totalCount: 0 })
  })

  test('a key has one guardrail: a second assignment moves it, and counts what is new', async () => {
    const { store, guardrail, keys, key, assign, assignments, workspaceId, counter } = await prepare()
    await store.insert(guardrail('g-1'), changedBy())
    await store.insert(guardrail('g-2'), changedBy())
    await keys.insert(key(hashOf('a')), changedBy())
    await keys.insert(key(hashOf('b')), changedBy())
    expect(await assign('g-1', 'key', hashOf('a'), hashOf('b'))).toEqual({ assigned: 2 })
    const before = await counter.read()
    expect(await assign('g-1', 'key', hashOf('a'))).toEqual({ assigned: 0 })
    expect(await counter.read()).toBe(before)
    expect(await assign('g-2', 'key', hashOf('a'))).toEqual({ assigned: 1 })
    const all = { workspaceId, guardrailId: null, offset: 0, limit: 10 }
    expect(await assignments.keys({ ...all, guardrailId: 'g-1' })).toMatchObject({
      items: [{ key_hash: hashOf('b'), key_name: 'key b' }],
      totalCount: 1,
    })
    expect((await assignments.keys(all)).totalCount).toBe(2)
    expect(await assignments.keys({ ...all, workspaceId: 'another' })).toEqual({ items: [], totalCount: 0 })
    expect(
      await assignments.unassign({ workspaceId, guardrailId: 'g-1', kind: 'key', subjects: [hashOf('a'), hashOf('b')] }, changeAt(T2)),
    ).toBe(1)
    await keys.revoke(workspaceId, hashOf('a'), changeAt(T2))
    expect(await assignments.keys(all)).toEqual({ items: [], totalCount: 0 })
  })

  test('taking a guardrail off one key leaves it on the others, and leaves theirs to those that have another', async () => {
    const { store, guardrail, keys, key, assign, assignments, workspaceId } = await prepare()
    for (const id of ['g-1', 'g-2']) await store.insert(guardrail(id), changedBy())
    const [first = '', second = '', third = ''] = ['a', 'b', 'c'].map(hashOf)
    for (const hash of [first, second, third]) await keys.insert(key(hash), changedBy())
    await assign('g-1', 'key', first, second)
    await assign('g-2', 'key', third)
    const off = { workspaceId, guardrailId: 'g-1', kind: 'key', subjects: [first, third] } as const
    expect(await assignments.unassign(off, changeAt(T2))).toBe(1)
    const { items } = await assignments.keys({ workspaceId, guardrailId: null, offset: 0, limit: 10 })
    expect(Object.fromEntries(items.map(({ guardrail_id, key_hash }) => [guardrail_id, key_hash]))).toEqual({ 'g-1': second, 'g-2': third })
    expect(items).toHaveLength(2)
  })

  test('nodes that change the same assignments at once, in any order, all succeed', async () => {
    const location = await engine.locate()
    const { store, guardrail, keys, key, workspaceId } = await prepare(location)
    for (const id of ['g-1', 'g-2']) await store.insert(guardrail(id), changedBy())
    const hashes = ['a', 'b', 'c', 'd', 'e', 'f'].map(hashOf)
    for (const hash of hashes) await keys.insert(key(hash), changedBy())
    const nodes = await Promise.all([engine.open(location), engine.open(location)])
    const changes = nodes.map(createGuardrailAssignmentStore).flatMap(({ assign, unassign }, node) =>
      Array.from({ length: 10 }, (_, index) => {
        const subjects = (index + node) % 2 === 0 ? hashes : hashes.toReversed()
        const here = { workspaceId, guardrailId: `g-${1 + (index % 2)}`, kind: 'key' } as const
        return index % 4 === 3
          ? unassign({ ...here, subjects }, changeAt(T1))
          : assign({ ...here, assignments: subjects.map((subject) => ({ id: crypto.randomUUID(), subject })) }, changeAt(T1))
      }),
    )
    expect((await Promise.allSettled(changes)).filter(({ status }) => status === 'rejected')).toEqual([])
  })

  test('a guardrail that was deleted in the meantime is assigned to nothing', async () => {
    const { store, guardrail, keys, key, assign, workspaceId } = await prepare()
    await store.insert(guardrail('g-1'), changedBy())
    await keys.insert(key(hashOf('a')), changedBy())
    await store.delete(workspaceId, 'g-1', changeAt(T1))
    expect(await assign('g-1', 'key', hashOf('a'))).toBeNull()
  })

  test('what the workspace does not have cannot be assigned, and then nothing is', async () => {
    const { store, guardrail, keys, key, assign, assignments, workspaceId } = await prepare()
    await store.insert(guardrail('g-1'), changedBy())
    await keys.insert(key(hashOf('a')), changedBy())
    expect(await assign('g-1', 'key', hashOf('a'), hashOf('f'))).toEqual({ unknown: [hashOf('f')] })
    expect(await assign('g-1', 'member', 'nobody')).toEqual({ unknown: ['nobody'] })
    expect((await assignments.keys({ workspaceId, guardrailId: null, offset: 0, limit: 10 })).totalCount).toBe(0)
  })

  test('to a caller apply the guardrail of its key, of its member and of the workspace; deleting one takes it off', async () => {
    const { store, guardrail, keys, key, assign, assignments, workspaceId, userId } = await prepare()
    const caller = { workspaceId, keyHash: hashOf('a'), userId }
    await keys.insert(key(hashOf('a')), changedBy())
    expect(await store.applyingTo(caller)).toEqual([])
    for (const id of ['g-1', 'g-2', 'g-3']) await store.insert(guardrail(id), changedBy())
    await assign('g-1', 'key', hashOf('a'))
    await assign('g-2', 'member', userId)
    const made = { ...guardrail('g-default'), updated_at: null }
    const saved = await store.upsertDefault(made, (was) => ({ ...was, name: 'House rules' }), changeAt(T2))
    expect(saved).toMatchObject({ id: 'g-default', name: 'House rules' })
    expect(await store.upsertDefault(made, (was) => ({ ...was, description: 'Again' }), changeAt(T2))).toMatchObject({
      name: 'House rules',
      description: 'Again',
    })
    expect((await store.applyingTo(caller)).map(({ guardrail: { id }, by }) => [id, by])).toEqual([
      ['g-1', 'key'],
      ['g-2', 'member'],
      ['g-default', 'workspace'],
    ])
    expect(await store.applyingTo({ ...caller, keyHash: hashOf('c'), userId: 'other' })).toMatchObject([{ by: 'workspace' }])
    await store.delete(workspaceId, 'g-1', changeAt(T2))
    await store.delete(workspaceId, 'g-default', changeAt(T2))
    expect((await store.applyingTo(caller)).map(({ by }) => by)).toEqual(['member'])
    expect((await assignments.members({ workspaceId, guardrailId: 'g-2', offset: 0, limit: 10 })).items).toMatchObject([
      { user_id: userId, organization_id: workspaceId },
    ])
  })
})
