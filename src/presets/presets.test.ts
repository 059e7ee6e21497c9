import { describe, expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../test/support/changed-by.ts'
import { testSeal } from '../../test/support/test-seal.ts'
import { uninterrupted } from '../../test/support/uninterrupted.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import { openSqliteDatabase } from '../../test/support/sqlite-database.ts'
import { presetVersion, presetWithVersion, type PresetContent, type PresetWithVersion } from '../contract/preset.ts'
import type { SaveOptions } from '../contract/save-preset.ts'
import { GatewayError } from '../errors.ts'
import { createPresetStore, type PresetStore, type VersionReference } from '../storage/presets/preset-store.ts'
import { rejection } from '../storage/testing/rejection.ts'
import { createPresets, type SaveRequest } from './presets.ts'

const { database, owner } = await openSqliteDatabase()
const { workspaceId, userId } = owner
const ids = createFakeIds()
const DESIGNATED: VersionReference = { by: 'designation' }
const DAY_MS = 24 * 60 * 60 * 1000

let slugs = 0
/** A service of its own over the shared database, and a slug that no other test uses. */
const open = () => {
  const store = createPresetStore({ database, seal: testSeal, startTurn: uninterrupted })
  const resolved: string[] = []
  const counted: PresetStore = {
    ...store,
    resolve(workspace, slug, reference) {
      resolved.push(slug)
      return store.resolve(workspace, slug, reference)
    },
  }
  const clock = createFakeClock()
  const slug = `preset-${(slugs += 1)}`
  const presets = createPresets({ store: counted, clock, ids })
  const content = (model: string): PresetContent => ({ shape: 'chat', config: { model }, systemPrompt: null })
  const save = async (model: string, more: Partial<SaveRequest> = {}): Promise<PresetWithVersion> => {
    const { status, body } = await presets.save({
      workspaceId,
      userId,
      slug,
      content: content(model),
      idempotency: null,
      by: changedBy(),
      ...more,
    })
    expect(status).toBe(200)
    return (JSON.parse(body) as { data: PresetWithVersion }).data
  }
  const served = async (reference: VersionReference = DESIGNATED) => presets.serve(workspaceId, slug, reference)
  return { presets, store, clock, slug, save, served, resolved }
}

const failure = async (work: Promise<unknown>): Promise<{ type: string; status: number; message: string }> => {
  const thrown = await rejection(work)
  if (!(thrown instanceof GatewayError)) throw thrown
  return { type: thrown.type, status: thrown.status, message: thrown.message }
}

describe('save', () => {
  test('an answer of megabytes is written in steps, with the same bytes, and a small one at once', async () => {
    const { presets, slug } = open()
    const answer = async (length: number): Promise<[turns: number, same: boolean]> => {
      let turns = 0
      const content: PresetContent = { shape: 'chat', config: { stop: 'é'.repeat(length).match(/.{1,999}/g) ?? [] }, systemPrompt: null }
      const saving = { workspaceId, userId, slug, content, idempotency: null, by: changedBy(), turn: () => void (turns += 1) }
      const { body } = await presets.save(saving)
      return [turns, body === JSON.stringify(JSON.parse(body))]
    }
    expect(await answer(10)).toEqual([0, true])
    const [turns, same] = await answer(1_500_000)
    expect(same).toBe(true)
    expect(turns).toBeGreaterThan(8)
  })

  test('200: the first version and every one after it, each in its own answer, as the contract says', async () => {
    const { save, slug, clock } = open()
    const first = await save('a/one')
    clock.advance(1000)
    const second = await save('a/two')
    expect(presetWithVersion.strict().parse(first)).toEqual(first)
    expect(first).toMatchObject({ slug, name: slug, description: null, status: 'active', status_updated_at: null, labels: {} })
    expect([first.designated_version.version, second.designated_version.version]).toEqual([1, 2])
    expect(first.designated_version.config).toEqual({ model: 'a/one' })
    expect(second.designated_version.config).toEqual({ model: 'a/two' })
    expect(second.designated_version_id).toBe(second.designated_version.id)
    expect(second.id).toBe(first.id)
    expect([second.created_at, second.updated_at]).toEqual(['2026-11-20T10:00:00.000Z', '2026-11-20T10:00:01.000Z'])
  })

  test('the same content again is a new version', async () => {
    const { save } = open()
    await save('a/one')
    expect((await save('a/one')).designated_version.version).toBe(2)
  })

  test('what is served changes with the save, not with the end of a cache', async () => {
    const { save, served, resolved } = open()
    await save('a/one')
    expect((await served()).version.version).toBe(1)
    expect((await served()).version.version).toBe(1)
    expect(resolved).toHaveLength(1)
    await save('a/two')
    expect((await served()).version.version).toBe(2)
  })

  test('a preset that was asked for before it existed is served right after it was made', async () => {
    const { save, served } = open()
    expect((await failure(served())).type).toBe('not_found')
    await save('a/one')
    expect((await served()).version.config).toEqual({ model: 'a/one' })
  })
})

describe('an idempotency key', () => {
  const claim = (bodyText: string, more: Partial<NonNullable<SaveRequest['idempotency']>> = {}): Partial<SaveRequest> => ({
    idempotency: { key: 'once', route: 'create', bodyText, ...more },
  })

  test('gives the first answer again, to the byte, and writes no version', async () => {
    const { presets, slug, save } = open()
    const request = {
      workspaceId,
      userId,
      slug,
      content: { shape: 'chat', config: { model: 'a/one' }, systemPrompt: null } as const,
      idempotency: { key: 'once', route: 'create', bodyText: '{}' },
    }
    const first = await presets.save({ ...request, by: changedBy() })
    await save('a/two')
    expect(await presets.save({ ...request, by: changedBy() })).toEqual(first)
    expect((await presets.versions(workspaceId, slug, 'asc', { offset: 0, limit: 10 })).totalCount).toBe(2)
  })

  test('400: with another body, also one that differs in white space alone', async () => {
    const { save } = open()
    await save('a/one', claim('{}'))
    for (const body of ['{"a":1}', '{ }']) {
      expect(await failure(save('a/one', claim(body)))).toEqual({
        type: 'invalid_request',
        status: 400,
        message: 'This Idempotency-Key was used with another request. Use a new key for a new request.',
      })
    }
  })

  test.each<[string, Partial<SaveOptions>]>([
    ['a note', { note: 'Shorter.' }],
    ['a version that is not put live', { designate: false }],
    ['another expected version', { expectedLatest: null }],
  ])('400: with %s the second time, or only the first', async (_, option) => {
    const plain: SaveOptions = { note: null, designate: true, expectedLatest: 0 }
    const other: SaveOptions = { ...plain, ...option }
    for (const [first, second] of [
      [plain, other],
      [other, plain],
    ] as const) {
      const { save } = open()
      const saved = await save('a/one', { ...claim('{}'), options: first })
      expect(await save('a/one', { ...claim('{}'), options: first })).toEqual(saved)
      // The body is the same, so the sentence must not call it another one.
      expect(await failure(save('a/one', { ...claim('{}'), options: second }))).toMatchObject({
        status: 400,
        message: expect.not.stringContaining('body'),
      })
    }
  })

  test('counts for one route and one slug', async () => {
    const { save } = open()
    const other = open()
    await save('a/one', claim('{}'))
    expect((await save('a/one', claim('{"a":1}', { route: 'another' }))).designated_version.version).toBe(2)
    expect((await other.save('a/one', claim('{"a":1}'))).designated_version.version).toBe(1)
  })

  test('holds for 24 hours to the millisecond, and is free after them', async () => {
    const { save, clock, presets, slug } = open()
    const idempotency = { key: 'once', route: 'create', bodyText: '{}' }
    const answered = async (): Promise<boolean> => (await presets.answered({ workspaceId, slug, idempotency })) !== null
    await save('a/one', claim('{}'))
    clock.advance(DAY_MS)
    expect(await answered()).toBe(true)
    expect((await save('a/one', claim('{}'))).designated_version.version).toBe(1)
    clock.advance(1)
    expect(await answered()).toBe(false)
    expect((await save('a/one', claim('{"a":1}'))).designated_version.version).toBe(2)
  })

  test('used twice at once writes one version', async () => {
    const { save, presets, slug } = open()
    const saved = await Promise.all([save('a/one', claim('{}')), save('a/one', claim('{}'))])
    expect(saved[0]).toEqual(saved[1])
    expect((await presets.versions(workspaceId, slug, 'asc', { offset: 0, limit: 10 })).totalCount).toBe(1)
  })
})

describe('serve', () => {
  test('by designation, number and label, each the version that it names', async () => {
    const { save, served, presets, slug } = open()
    await save('a/one')
    await save('a/two')
    await presets.patch({ workspaceId, slug }, { labels: { staging: 1, canary: 2 } }, changedBy())
    const versions = await Promise.all(
      [DESIGNATED, { by: 'number', number: 1 }, { by: 'label', label: 'staging' }, { by: 'label', label: 'canary' }].map((reference) =>
        served(reference as VersionReference),
      ),
    )
    expect(versions.map(({ version }) => version.version)).toEqual([2, 1, 1, 2])
  })

  test.each<[string, (parts: ReturnType<typeof open>) => Promise<unknown>, { type: string; status: number }]>([
    ['404: unknown', async () => undefined, { type: 'not_found', status: 404 }],
    [
      '404: archived',
      async ({ save, presets, slug }) => (await save('a/one'), presets.archive({ workspaceId, slug }, changedBy())),
      { type: 'not_found', status: 404 },
    ],
    [
      '403: disabled',
      async ({ save, presets, slug }) => (await save('a/one'), presets.patch({ workspaceId, slug }, { status: 'disabled' }, changedBy())),
      { type: 'permission_denied', status: 403 },
    ],
  ])('%s', async (_, prepare, expected) => {
    const parts = open()
    await prepare(parts)
    expect(await failure(parts.served())).toMatchObject(expected)
    // The cache must give the same error.
    expect(await failure(parts.served())).toMatchObject(expected)
    expect((await failure(parts.served())).message).toContain(parts.slug)
  })

  test('404: a number or a label that the preset does not have', async () => {
    const { save, served } = open()
    await save('a/one')
    expect(await failure(served({ by: 'number', number: 2 }))).toMatchObject({ type: 'not_found', status: 404 })
    expect(await failure(served({ by: 'label', label: 'staging' }))).toMatchObject({ type: 'not_found', status: 404 })
  })

  test('404: the preset of another workspace', async () => {
    const { save, presets, slug } = open()
    await save('a/one')
    const work = Promise.resolve(presets.serve('11111111-1111-4111-8111-111111111111', slug, DESIGNATED))
    expect(await failure(work)).toMatchObject({ type: 'not_found' })
  })

  test('follows every change at once: label moved, rolled back, disabled, enabled, archived, saved again', async () => {
    const { save, served, presets, slug } = open()
    const label = { by: 'label', label: 'live' } as const
    await save('a/one')
    await save('a/two')
    await presets.patch({ workspaceId, slug }, { labels: { live: 1 } }, changedBy())
    expect((await served(label)).version.version).toBe(1)
    await presets.patch({ workspaceId, slug }, { labels: { live: 2 } }, changedBy())
    expect((await served(label)).version.version).toBe(2)
    await presets.patch({ workspaceId, slug }, { designated_version: 1 }, changedBy())
    expect((await served()).version.version).toBe(1)
    await presets.patch({ workspaceId, slug }, { status: 'disabled' }, changedBy())
    expect((await failure(served())).type).toBe('permission_denied')
    await presets.patch({ workspaceId, slug }, { status: 'active' }, changedBy())
    expect((await served()).version.version).toBe(1)
    await presets.archive({ workspaceId, slug }, changedBy())
    expect((await failure(served())).type).toBe('not_found')
    await save('a/three')
    expect((await served()).version.version).toBe(3)
  })

  test('sees what another process changed once the cache is dropped', async () => {
    const { save, served, presets, store, slug } = open()
    await save('a/one')
    await served()
    await store.archive({ workspaceId, slug }, changeAt('2026-11-20T10:00:00.000Z'))
    expect((await served()).version.version).toBe(1)
    presets.refreshCache()
    expect((await failure(served())).type).toBe('not_found')
  })

  test.each<[string, VersionReference]>([
    ['a preset', DESIGNATED],
    ['a version', { by: 'number', number: 2 }],
    ['a label', { by: 'label', label: 'live' }],
  ])('%s that was not there is served right after another process made it, before anything is heard of that', async (_, reference) => {
    const { save, served, slug } = open()
    if (reference !== DESIGNATED) await save('a/one')
    expect((await failure(served(reference))).status).toBe(404)
    const other = createPresets({
      store: createPresetStore({ database, seal: testSeal, startTurn: uninterrupted }),
      clock: createFakeClock(),
      ids,
    })
    const content: PresetContent = { shape: 'chat', config: { model: 'a/two' }, systemPrompt: null }
    await other.save({ workspaceId, userId, slug, content, idempotency: null, by: changedBy() })
    if (reference.by === 'label') await other.patch({ workspaceId, slug }, { labels: { live: 2 } }, changedBy())
    expect((await served(reference)).version.config).toEqual({ model: 'a/two' })
  })

  test('a flood of requests for a preset that does not exist is a few lookups at once', async () => {
    const { served, resolved } = open()
    await failure(served())
    resolved.length = 0
    await Promise.all(Array.from({ length: 1000 }, () => failure(served())))
    expect(resolved).toHaveLength(4)
  })

  test('a slow load that a save overtook is not what the next request gets', async () => {
    const { store, clock, slug } = open()
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let first = true
    const presets = createPresets({
      store: {
        ...store,
        async resolve(...reference) {
          const found = await store.resolve(...reference)
          if (first) {
            first = false
            await held
          }
          return found
        },
      },
      clock,
      ids,
    })
    const request = {
      workspaceId,
      userId,
      slug,
      content: { shape: 'chat', config: { model: 'a/one' }, systemPrompt: null },
      idempotency: null,
    } as const
    await presets.save({ ...request, by: changedBy() })
    const early = presets.serve(workspaceId, slug, DESIGNATED)
    await presets.save({ ...request, by: changedBy() })
    release()
    expect((await early).version.version).toBe(1)
    expect((await presets.serve(workspaceId, slug, DESIGNATED)).version.version).toBe(2)
  })
})

describe('management', () => {
  const unknown: [string, (parts: ReturnType<typeof open>) => Promise<unknown>][] = [
    ['get', ({ presets, slug }) => presets.get(workspaceId, slug)],
    ['versions', ({ presets, slug }) => presets.versions(workspaceId, slug, 'asc', { offset: 0, limit: 10 })],
    ['version', ({ presets, slug }) => presets.version(workspaceId, slug, 1)],
    ['patch', ({ presets, slug }) => presets.patch({ workspaceId, slug }, { name: 'x' }, changedBy())],
    ['archive', ({ presets, slug }) => presets.archive({ workspaceId, slug }, changedBy())],
  ]
  test.each(unknown)('404: %s of an unknown preset, naming it', async (_, act) => {
    const parts = open()
    const { message, ...rest } = await failure(act(parts))
    expect(rest).toEqual({ type: 'not_found', status: 404 })
    expect(message).toContain(parts.slug)
  })

  test('404: a version that the preset does not have', async () => {
    const { save, presets, slug } = open()
    await save('a/one')
    expect((await failure(presets.version(workspaceId, slug, 2))).message).toContain(`"${slug}" has no version 2`)
  })

  test.each<[string, Parameters<ReturnType<typeof open>['presets']['patch']>[1], string]>([
    ['a designation', { designated_version: 9 }, 'designated_version: the preset has no version 9.'],
    ['a label', { labels: { staging: 9 } }, 'labels.staging: the preset has no version 9.'],
  ])('400: %s of a version that does not exist, and nothing is changed', async (_, patch, message) => {
    const { save, presets, slug } = open()
    await save('a/one')
    const before = await presets.get(workspaceId, slug)
    expect(await failure(presets.patch({ workspaceId, slug }, { ...patch, name: 'changed' }, changedBy()))).toEqual({
      type: 'invalid_request',
      status: 400,
      message,
    })
    expect(await presets.get(workspaceId, slug)).toEqual(before)
  })

  test('archiving twice is archiving once', async () => {
    const { save, presets, slug } = open()
    await save('a/one')
    await presets.archive({ workspaceId, slug }, changedBy())
    await presets.archive({ workspaceId, slug }, changedBy())
    expect((await presets.get(workspaceId, slug)).status).toBe('archived')
  })

  test('versions come oldest first and stay as they were written', async () => {
    const { save, presets, slug } = open()
    const first = await save('a/one')
    await save('a/two')
    await presets.patch({ workspaceId, slug }, { name: 'renamed' }, changedBy())
    const listed = await presets.versions(workspaceId, slug, 'asc', { offset: 0, limit: 10 })
    const items = await Array.fromAsync(listed.items)
    expect([listed.totalCount, items.map(({ version }) => version)]).toEqual([2, [1, 2]])
    expect(items[0]).toEqual(first.designated_version)
    expect(presetVersion.strict().parse(await presets.version(workspaceId, slug, 1))).toEqual(first.designated_version)
  })
})

test('the model list has every active preset with its designated version, and no other', async () => {
  const [active, disabled, archived] = [open(), open(), open()]
  for (const each of [active, disabled, archived]) await each.save('a/one')
  await active.save('a/two')
  await disabled.presets.patch({ workspaceId, slug: disabled.slug }, { status: 'disabled' }, changedBy())
  await archived.presets.archive({ workspaceId, slug: archived.slug }, changedBy())
  const listed = new Map((await active.presets.served(workspaceId)).map(({ preset: { slug }, version: { version } }) => [slug, version]))
  expect([active, disabled, archived].map(({ slug }) => listed.get(slug))).toEqual([2, undefined, undefined])
})

test('the model list does not end with the first hundred presets', async () => {
  const made = Array.from({ length: 101 }, open)
  for (const { save } of made) await save('a/one')
  const listed = new Set((await open().presets.served(workspaceId)).map(({ preset: { slug } }) => slug))
  expect(made.filter(({ slug }) => !listed.has(slug))).toEqual([])
})

test('the model list reads a preset once, until something changes', async () => {
  const { presets, save, resolved, slug } = open()
  await save('a/one')
  for (let asked = 0; asked < 3; asked += 1) await presets.served(workspaceId)
  expect(resolved.filter((one) => one === slug)).toHaveLength(1)
  await save('a/two')
  expect((await presets.served(workspaceId)).find(({ preset }) => preset.slug === slug)?.version.config).toEqual({ model: 'a/two' })
})
