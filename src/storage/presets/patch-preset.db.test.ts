import { expect, test } from 'bun:test'

import { changeAt } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { createChangeCounter } from '../changes/change-counter.ts'
import { preparePresets, T0, T1, T2 } from '../testing/preset-input.ts'

describeEachEngine('patching a preset', (engine) => {
  test('changes what is named and leaves the rest', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    await store.patch({ workspaceId, slug: 'bot' }, { name: 'Bot', description: 'Helps.' }, changeAt(T1))
    const outcome = await store.patch({ workspaceId, slug: 'bot' }, { description: null }, changeAt(T2))
    expect(outcome).toMatchObject({
      kind: 'patched',
      preset: { name: 'Bot', description: null, status: 'active', status_updated_at: null, created_at: T0, updated_at: T2 },
    })
    expect(await store.get(workspaceId, 'bot')).toEqual(outcome.kind === 'patched' ? outcome.preset : null)
  })

  test('status_updated_at moves only when the status really changes', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    expect(await store.patch({ workspaceId, slug: 'bot' }, { status: 'active' }, changeAt(T1))).toMatchObject({
      preset: { status_updated_at: null },
    })
    expect(await store.patch({ workspaceId, slug: 'bot' }, { status: 'disabled' }, changeAt(T1))).toMatchObject({
      preset: { status_updated_at: T1 },
    })
    expect(await store.patch({ workspaceId, slug: 'bot' }, { status: 'disabled' }, changeAt(T2))).toMatchObject({
      preset: { status_updated_at: T1 },
    })
  })

  test('a patch that changes nothing moves no time and tells no other process', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    await store.patch({ workspaceId, slug: 'bot' }, { name: 'Bot', description: 'Helps.', labels: { live: 1 } }, changeAt(T1))
    const before = await store.get(workspaceId, 'bot')
    const counter = await createChangeCounter(database).read()
    const same = { name: 'Bot', description: 'Helps.', status: 'active', designated_version: 1, labels: { live: 1, gone: null } } as const
    for (const patch of [{}, same])
      expect(await store.patch({ workspaceId, slug: 'bot' }, patch, changeAt(T2))).toEqual({ kind: 'patched', preset: before! })
    expect(await store.get(workspaceId, 'bot')).toEqual(before)
    expect(await createChangeCounter(database).read()).toBe(counter)
  })

  test('a second deletion changes nothing', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    expect(await store.archive({ workspaceId, slug: 'bot' }, changeAt(T1))).toBe(true)
    const before = await store.get(workspaceId, 'bot')
    const counter = await createChangeCounter(database).read()
    expect(await store.archive({ workspaceId, slug: 'bot' }, changeAt(T2))).toBe(true)
    expect(await store.get(workspaceId, 'bot')).toEqual(before)
    expect(before).toMatchObject({ status: 'archived', updated_at: T1 })
    expect(await createChangeCounter(database).read()).toBe(counter)
  })

  test('designates an older version, and the next creation designates its own again', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot', { versionId: 'v-1' })
    await create('bot', { versionId: 'v-2' })
    expect(await store.patch({ workspaceId, slug: 'bot' }, { designated_version: 1 }, changeAt(T1))).toMatchObject({
      preset: { designated_version_id: 'v-1', designated_version: { version: 1 } },
    })
    expect(await create('bot', { versionId: 'v-3' })).toMatchObject({ preset: { designated_version: { id: 'v-3', version: 3 } } })
  })

  test('a version that does not exist is reported, and nothing is changed', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    const before = await store.get(workspaceId, 'bot')
    const counter = await createChangeCounter(database).read()
    expect(await store.patch({ workspaceId, slug: 'bot' }, { name: 'x', designated_version: 2 }, changeAt(T1))).toEqual({
      kind: 'no-such-version',
      version: 2,
      label: null,
    })
    expect(await store.patch({ workspaceId, slug: 'bot' }, { name: 'x', labels: { good: 1, bad: 9 } }, changeAt(T1))).toEqual({
      kind: 'no-such-version',
      version: 9,
      label: 'bad',
    })
    expect(await store.get(workspaceId, 'bot')).toEqual(before)
    expect(await createChangeCounter(database).read()).toBe(counter)
  })

  test('labels are set and removed by name, those not named stay, and any allowed name works', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    await create('bot')
    const proto = JSON.parse('{"__proto__": 2, "staging": 1, "live": 1}') as Record<string, number>
    await store.patch({ workspaceId, slug: 'bot' }, { labels: proto }, changeAt(T1))
    await store.patch({ workspaceId, slug: 'bot' }, { labels: { staging: null, live: 2, none: null } }, changeAt(T2))
    const preset = await store.get(workspaceId, 'bot')
    expect(Object.entries(preset?.labels ?? {})).toEqual([
      ['__proto__', 2],
      ['live', 2],
    ])
  })

  test('parallel patches and creations all take effect', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    const labels = Array.from({ length: 16 }, (_, index) => `label${index}`)
    await Promise.all(
      labels.flatMap((label) => [
        store.patch({ workspaceId, slug: 'bot' }, { labels: { [label]: 1 } }, changeAt(T1)),
        create('bot') as Promise<unknown>,
      ]),
    )
    const preset = await store.get(workspaceId, 'bot')
    expect(Object.keys(preset?.labels ?? {}).toSorted()).toEqual(labels.toSorted())
    expect(preset?.designated_version.version).toBe(17)
  })

  test('an unknown preset, or one of another workspace, is not found', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    expect(await store.patch({ workspaceId, slug: 'none' }, { name: 'x' }, changeAt(T1))).toEqual({ kind: 'no-such-preset' })
    expect(await store.patch({ workspaceId: 'another', slug: 'bot' }, { name: 'x' }, changeAt(T1))).toEqual({ kind: 'no-such-preset' })
    expect(await store.archive({ workspaceId: 'another', slug: 'bot' }, changeAt(T1))).toBe(false)
  })

  test('archiving twice is archiving once', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    expect(await store.archive({ workspaceId, slug: 'bot' }, changeAt(T1))).toBe(true)
    expect(await store.archive({ workspaceId, slug: 'bot' }, changeAt(T2))).toBe(true)
    expect(await store.get(workspaceId, 'bot')).toMatchObject({ status: 'archived', status_updated_at: T1 })
  })
})

describeEachEngine('resolving a preset', (engine) => {
  test('by designation, by number and by label', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    await create('bot')
    await store.patch({ workspaceId, slug: 'bot' }, { labels: { old: 1, now: 2 } }, changeAt(T1))
    const versionOf = async (reference: Parameters<typeof store.resolve>[2]) => {
      const resolution = await store.resolve(workspaceId, 'bot', reference)
      return resolution.kind === 'found' ? resolution.version.version : resolution.kind
    }
    expect(await versionOf({ by: 'designation' })).toBe(2)
    expect(await versionOf({ by: 'number', number: 1 })).toBe(1)
    expect(await versionOf({ by: 'number', number: 2 })).toBe(2)
    expect(await versionOf({ by: 'label', label: 'old' })).toBe(1)
    expect(await versionOf({ by: 'label', label: 'now' })).toBe(2)
    expect(await versionOf({ by: 'number', number: 3 })).toBe('no-such-version')
    expect(await versionOf({ by: 'label', label: 'constructor' })).toBe('no-such-version')
  })

  test('an archived or disabled preset is found with its status, an unknown one is not', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    await store.archive({ workspaceId, slug: 'bot' }, changeAt(T1))
    expect(await store.resolve(workspaceId, 'bot', { by: 'designation' })).toMatchObject({ kind: 'found', preset: { status: 'archived' } })
    expect(await store.resolve(workspaceId, 'none', { by: 'designation' })).toEqual({ kind: 'no-such-preset' })
  })
})
