import { expect, test } from 'bun:test'

import { changedBy } from '../../test/support/changed-by.ts'
import { guardrailWith } from '../../test/support/guardrail.ts'
import { describeEachEngine } from '../../test/support/databases.ts'
import type { GuardrailResource } from '../contract/guardrail.ts'
import { createChangeCounter } from './change-counter.ts'
import { createGuardrailAssignmentStore } from './guardrail-assignment-store.ts'
import { createGuardrailStore } from './guardrail-store.ts'
import { createKeyStore, type KeyRecord } from './key-store.ts'
import { T0, T1, T2 } from './testing/preset-input.ts'
import { createWorkspaceStore } from './workspace-store.ts'

const hashOf = (digit: string): string => digit.repeat(64)

describeEachEngine('guardrail store', (engine) => {
  const prepare = async () => {
    const database = await engine.open()
    const { workspaceId, userId } = await createWorkspaceStore(database).ensureDefaults({
      workspaceId: 'workspace-1',
      userId: 'user-1',
      now: T0,
    })
    const keys = createKeyStore(database)
    const key = (hash: string): KeyRecord => ({
      hash,
      kind: 'inference',
      name: `key ${hash[0]}`,
      label: 'pb_inf_abc…xyz',
      workspaceId,
      creatorUserId: userId,
      disabled: false,
      limitNanos: null,
      limitReset: null,
      includeByokInLimit: false,
      strict: false,
      digest: hash,
      pepperId: 'first',
      rpmLimit: null,
      tpmLimit: null,
      expiresAt: null,
      createdAt: T0,
      updatedAt: null,
    })
    const guardrail = (id: string, createdAt = T0): GuardrailResource => ({
      ...guardrailWith({ limit_usd: 12.5, reset_interval: 'weekly', content_filters: [{ pattern: 'a"\\d', action: 'flag' }] }).guardrail,
      id,
      workspace_id: workspaceId,
      created_at: createdAt,
    })
    const store = createGuardrailStore(database)
    const assignments = createGuardrailAssignmentStore(database)
    const assign = (guardrailId: string, kind: 'key' | 'member', ...subjects: string[]) =>
      assignments.assign({
        workspaceId,
        guardrailId,
        kind,
        assignments: subjects.map((subject) => ({ id: `${guardrailId}-${subject}`, subject })),
        assignedBy: userId,
        now: T1,
      })
    return { workspaceId, userId, keys, key, guardrail, store, assignments, assign, counter: createChangeCounter(database) }
  }

  test('a guardrail comes back as it was inserted, to its workspace only; a change and a deletion are seen', async () => {
    const { store, guardrail, workspaceId, counter } = await prepare()
    const made = guardrail('g-1')
    const before = await counter.read()
    await store.insert(made)
    expect(await store.get(workspaceId, 'g-1')).toEqual(made)
    expect(await store.get('another', 'g-1')).toBeNull()
    const renamed = { ...made, name: 'New name', limit_usd: null, reset_interval: null, updated_at: T2 }
    const change = (was: GuardrailResource) => ({ ...was, name: 'New name', limit_usd: null, reset_interval: null })
    expect(await store.update('another', 'g-1', change, T2)).toBeNull()
    expect(await store.update(workspaceId, 'g-1', change, T2)).toEqual(renamed)
    expect(await store.get(workspaceId, 'g-1')).toEqual(renamed)
    expect(await store.delete('another', 'g-1')).toBe(false)
    expect(await store.delete(workspaceId, 'g-1')).toBe(true)
    expect(await store.delete(workspaceId, 'g-1')).toBe(false)
    expect(await counter.read()).toBe(before + 3)
  })

  test('the list is the newest first, in pages', async () => {
    const { store, guardrail, workspaceId } = await prepare()
    for (const [id, at] of [
      ['g-1', T0],
      ['g-2', T1],
      ['g-3', T2],
    ] as const)
      await store.insert(guardrail(id, at))
    const page = await store.list(workspaceId, { offset: 1, limit: 1 })
    expect(page).toMatchObject({ items: [{ id: 'g-2' }], totalCount: 3 })
    expect(await store.list('another', { offset: 0, limit: 10 })).toEqual({ items: [], totalCount: 0 })
  })

  test('a key has one guardrail: a second assignment moves it, and counts what is new', async () => {
    const { store, guardrail, keys, key, assign, assignments, workspaceId, counter } = await prepare()
    await store.insert(guardrail('g-1'))
    await store.insert(guardrail('g-2'))
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
    expect(await assignments.unassign({ workspaceId, guardrailId: 'g-1', kind: 'key', subjects: [hashOf('a'), hashOf('b')] })).toBe(1)
    await keys.revoke(workspaceId, hashOf('a'), T2, changedBy())
    expect(await assignments.keys(all)).toEqual({ items: [], totalCount: 0 })
  })

  test('what the workspace does not have cannot be assigned, and then nothing is', async () => {
    const { store, guardrail, keys, key, assign, assignments, workspaceId } = await prepare()
    await store.insert(guardrail('g-1'))
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
    for (const id of ['g-1', 'g-2', 'g-3']) await store.insert(guardrail(id))
    await assign('g-1', 'key', hashOf('a'))
    await assign('g-2', 'member', userId)
    const made = { ...guardrail('g-default'), updated_at: null }
    const saved = await store.upsertDefault(made, (was) => ({ ...was, name: 'House rules' }), T2)
    expect(saved).toMatchObject({ id: 'g-default', name: 'House rules' })
    expect(await store.upsertDefault(made, (was) => ({ ...was, description: 'Again' }), T2)).toMatchObject({
      name: 'House rules',
      description: 'Again',
    })
    expect((await store.applyingTo(caller)).map(({ guardrail: { id }, by }) => [id, by])).toEqual([
      ['g-1', 'key'],
      ['g-2', 'member'],
      ['g-default', 'workspace'],
    ])
    expect(await store.applyingTo({ ...caller, keyHash: hashOf('c'), userId: 'other' })).toMatchObject([{ by: 'workspace' }])
    await store.delete(workspaceId, 'g-1')
    await store.delete(workspaceId, 'g-default')
    expect((await store.applyingTo(caller)).map(({ by }) => by)).toEqual(['member'])
    expect((await assignments.members({ workspaceId, guardrailId: 'g-2', offset: 0, limit: 10 })).items).toMatchObject([
      { user_id: userId, organization_id: workspaceId },
    ])
  })
})
