import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { sql } from 'kysely'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import { uninterrupted } from '../../../test/support/uninterrupted.ts'
import type { Position } from '../../contract/cursor.ts'
import { createChangeCounter } from '../changes/change-counter.ts'
import type { CreateVersionOutcome } from './create-preset-version.ts'
import { createAuditLog } from '../changes/audit-log.ts'
import { createPresetStore, type PresetPage } from './preset-store.ts'
import { claimOf, preparePresets, T0, T1, T2, versionInput } from '../testing/preset-input.ts'
import { rejection, rejectionText } from '../testing/rejection.ts'

const created = (outcome: CreateVersionOutcome) => {
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.preset
}

/** Also clears the log. */
const countTurnsBehind = (log: string[]): number => {
  const all = log.splice(0)
  return all.slice(all.lastIndexOf('transaction') + 1).filter((entry) => entry === 'turn').length
}

describeEachEngine('preset store', (engine) => {
  test('a new slug becomes an active preset, named as its slug, that embeds version 1', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    const preset = created(await create('support-bot', { presetId: 'p-1', versionId: 'v-1' }))
    expect(preset).toEqual({
      id: 'p-1',
      slug: 'support-bot',
      name: 'support-bot',
      description: null,
      status: 'active',
      status_updated_at: null,
      created_at: T0,
      updated_at: T0,
      creator_user_id: 'user-1',
      workspace_id: workspaceId,
      designated_version_id: 'v-1',
      latest_version: 1,
      require_evaluation: false,
      labels: {},
      designated_version: {
        id: 'v-1',
        preset_id: 'p-1',
        version: 1,
        shape: 'chat',
        config: { model: 'openai/gpt-5.4', temperature: 0 },
        system_prompt: 'Be kind.',
        creator_id: 'user-1',
        created_at: T0,
        updated_at: T0,
        note: null,
        designated_at: T0,
      },
    })
    expect(await store.get(workspaceId, 'support-bot')).toEqual(preset)
    expect(await store.version(workspaceId, 'support-bot', 1)).toEqual(preset.designated_version)
  })

  test('a known slug keeps its preset and gets the next version, also for the same content', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    const first = created(await create('bot'))
    const second = created(await create('bot', { now: T1, versionId: 'v-2' }))
    expect(second).toEqual({
      ...first,
      updated_at: T1,
      designated_version_id: 'v-2',
      latest_version: 2,
      designated_version: { ...first.designated_version, id: 'v-2', version: 2, created_at: T1, updated_at: T1, designated_at: T1 },
    })
    expect(await store.get(workspaceId, 'bot')).toEqual(second)
  })

  test('32 writers race to create one slug: one preset, each answer has its own version, no gaps, the last is designated', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    const presets = await Promise.all(
      Array.from({ length: 32 }, async () => [created(await create('race')), created(await create('race')), created(await create('race'))]),
    )
    const answers = presets.flat()
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.map((preset) => preset.designated_version.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 96 }, (_, index) => index + 1),
    )
    for (const answer of answers) {
      expect(answer.designated_version_id).toBe(answer.designated_version.id)
      expect(await store.version(workspaceId, 'race', answer.designated_version.version)).toEqual(answer.designated_version)
    }
    expect((await store.get(workspaceId, 'race'))?.designated_version.version).toBe(96)
  })

  test('two connections see the same numbering, and what was answered can be read at once', async () => {
    const location = await engine.locate()
    const left = await preparePresets(await engine.open(location))
    const right = await preparePresets(await engine.open(location))
    expect(right.workspaceId).toBe(left.workspaceId)
    const written = await Promise.all(
      [left, right].map(async ({ create }, index) => {
        const other = index === 0 ? right : left
        const versions: number[] = []
        for (let count = 0; count < 20; count++) {
          const { designated_version } = created(await create('shared'))
          versions.push(designated_version.version)
          expect(await other.store.version(left.workspaceId, 'shared', designated_version.version)).toEqual(designated_version)
        }
        return versions
      }),
    )
    expect(written.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  })

  test('any text and any JSON come back as they were saved', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
        fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue() as fc.Arbitrary<never>),
        async (systemPrompt, dictionary) => {
          const config = JSON.parse(JSON.stringify(dictionary)) as typeof dictionary
          created(await create('any', { content: { shape: 'messages', config, systemPrompt } }))
          const stored = (await store.get(workspaceId, 'any'))?.designated_version
          expect(stored?.system_prompt).toBe(systemPrompt)
          expect(JSON.stringify(stored?.config)).toBe(JSON.stringify(config))
        },
      ),
      { numRuns: 50 },
    )
  })

  test('slugs are case-sensitive, and belong to their workspace', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    const lower = created(await create('bot'))
    const upper = created(await create('Bot'))
    expect(upper.id).not.toBe(lower.id)
    expect(upper.designated_version.version).toBe(1)
    expect(await store.get(workspaceId, 'BOT')).toBeNull()
    expect(await store.get('another-workspace', 'bot')).toBeNull()
    expect(await store.version('another-workspace', 'bot', 1)).toBeNull()
  })

  test('a version can be neither changed, deleted nor replaced', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    const { designated_version: before } = created(await create('fixed'))
    const attempts = [
      sql`update preset_versions set config = '{}' where id = ${before.id}`,
      sql`delete from preset_versions where id = ${before.id}`,
      ...(engine.name === 'sqlite'
        ? [
            sql`insert or replace into preset_versions select id, preset_id, version, shape, '{}', null, creator_id, created_at, updated_at, note, saved_as_draft from preset_versions`,
          ]
        : [sql`truncate preset_versions`]),
    ]
    for (const attempt of attempts) {
      const change = database.transaction((transaction) => attempt.execute(transaction))
      expect(await rejectionText(change)).toContain('preset versions are immutable')
    }
    expect(await store.version(workspaceId, 'fixed', 1)).toEqual(before)
  })

  test('an archived preset is active again with its next version, a disabled one stays disabled', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('archived')
    await create('disabled')
    expect(await store.archive({ workspaceId, slug: 'archived' }, changeAt(T1))).toBe(true)
    await store.patch({ workspaceId, slug: 'disabled' }, { status: 'disabled' }, changeAt(T1))
    expect(created(await create('archived', { now: T2 }))).toMatchObject({ status: 'active', status_updated_at: T2 })
    expect(created(await create('disabled', { now: T2 }))).toMatchObject({ status: 'disabled', status_updated_at: T1 })
  })

  test('lists newest first, page by page, with the total', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    for (const [slug, now] of [
      ['a', T0],
      ['b', T2],
      ['c', T1],
    ] as const)
      await create(slug, { now })
    const slugs = async (offset: number, limit: number) => {
      const page = await store.list({ workspaceId, offset, limit })
      expect(page.totalCount).toBe(3)
      return page.items.map(({ slug }) => slug)
    }
    expect(await slugs(0, 50)).toEqual(['b', 'c', 'a'])
    expect(await slugs(0, 2)).toEqual(['b', 'c'])
    expect(await slugs(2, 2)).toEqual(['a'])
    expect(await slugs(9, 2)).toEqual([])
    expect(Object.keys((await store.list({ workspaceId, offset: 0, limit: 1 })).items[0] ?? {})).not.toContain('last_version')
    expect(await store.list({ workspaceId: 'another', offset: 0, limit: 9 })).toEqual({ items: [], totalCount: 0 })
  })

  test('a page that looks through few presets goes on where it ended, and has each preset that fits once', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    for (let number = 0; number < 9; number += 1)
      await create(`${number % 4 === 0 ? 'rare' : 'bot'}-${number}`, { now: [T0, T1, T2][number % 3] ?? T0 })
    await store.patch({ workspaceId, slug: 'bot-1' }, { status: 'disabled' }, changeAt(T2))
    const few = createPresetStore({ database, seal: testSeal, startTurn: uninterrupted }, 2)
    for (const query of [{}, { status: 'active' }, { q: 'RARE' }, { q: 'rare', status: 'active' }, { q: 'nothing' }] as const) {
      const whole = (await store.list({ workspaceId, ...query, offset: 0, limit: 50 })).items.map(({ slug }) => slug)
      const seen: string[] = []
      for (let after: Position | null = null; ;) {
        const { items, next }: PresetPage = await few.page({ workspaceId, ...query, after, limit: 3 })
        seen.push(...items.map(({ slug }) => slug))
        if (next === null) break
        after = next
      }
      expect({ query, seen }).toEqual({ query, seen: whole })
    }
  })

  test('a list is long where more presets than are counted would be looked at, or passed over by their number', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    for (let number = 0; number < 4; number += 1) await create(`bot-${number}`)
    const isLong = (numberedMax: number, query: object, offset = 0) =>
      createPresetStore({ database, seal: testSeal, startTurn: uninterrupted }, 2, numberedMax).isLong({ workspaceId, ...query }, offset)
    expect([await isLong(3, { q: 'bot' }), await isLong(3, { q: 'bot', status: 'active' })]).toEqual([true, true])
    expect([await isLong(4, { q: 'bot' }), await isLong(3, { q: 'bot', status: 'disabled' })]).toEqual([false, false])
    expect([await isLong(3, {}), await isLong(3, { status: 'active' })]).toEqual([false, false])
    expect([await isLong(3, {}, 3), await isLong(3, {}, 4)]).toEqual([false, true])
  })

  test('what presets serve and who changed them last is read for many at once; tests of a preset, and other workspaces, change nothing of it', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    const long = { model: 'openai/gpt-5.4', stop: ['x'.repeat(70_000)] }
    const first = await create('bot', { by: { ...changedBy(), userId: 'ada' } })
    const second = await create('long', {
      content: { shape: 'chat', config: long, systemPrompt: null },
      by: { ...changedBy(), userId: 'grace' },
    })
    const log = createAuditLog(database, () => () => undefined)
    const entry = { objectType: 'preset' as const, objectId: 'bot', before: null, after: null }
    await log.note({ ...entry, workspaceId, action: 'test_added' }, { by: { ...changedBy(), userId: 'eve' }, now: T2 })
    await log.note({ ...entry, workspaceId, action: 'evaluation_started' }, { by: { ...changedBy(), userId: 'eve' }, now: T2 })
    await log.note({ ...entry, workspaceId: 'w-other', action: 'updated' }, { by: { ...changedBy(), userId: 'eve' }, now: T2 })
    const ids = [first, second].map((outcome) => (outcome.kind === 'created' ? outcome.preset.id : ''))
    const by = { at: T0, user_name: null, key_hash: null, key_name: null }
    expect([...(await store.summaries(ids))].toSorted(([left], [right]) => ids.indexOf(left) - ids.indexOf(right))).toEqual([
      [ids[0] ?? '', { live_version: 1, model: 'openai/gpt-5.4', splits: null, last_change: { ...by, user_id: 'ada' } }],
      [ids[1] ?? '', { live_version: 1, model: null, splits: null, last_change: { ...by, user_id: 'grace' } }],
    ])
    expect(await store.summaries([])).toEqual(new Map())
  })

  test('lists versions in both orders', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    for (let count = 0; count < 5; count++) await create('bot')
    const numbers = async (ascending: boolean, offset: number, limit: number) => {
      const page = await store.versions({ workspaceId, slug: 'bot', ascending, offset, limit })
      expect(page?.totalCount).toBe(5)
      return (await Array.fromAsync(page?.items ?? [])).map(({ version }) => version)
    }
    expect(await numbers(true, 0, 3)).toEqual([1, 2, 3])
    expect(await numbers(true, 3, 3)).toEqual([4, 5])
    expect(await numbers(false, 0, 2)).toEqual([5, 4])
    expect(await store.versions({ workspaceId, slug: 'none', ascending: true, offset: 0, limit: 3 })).toBeNull()
    expect(await store.version(workspaceId, 'bot', 6)).toBeNull()
  })

  test('versions are read and parsed a few at a time, with a yield after each long one', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    const content = (characters: number) =>
      ({ shape: 'chat', config: { stop: 'é'.repeat(characters).match(/.{1,999}/g) ?? [] }, systemPrompt: 'a' }) as const
    const lengths = [1, 90_000, 1, 90_000, 90_000, 800_000, 1, 700_000]
    for (const length of lengths) await create('bot', { content: content(length) })
    let turns = 0
    const store = createPresetStore({ database, seal: testSeal, startTurn: () => () => void (turns += 1) })
    const listed = await store.versions({ workspaceId, slug: 'bot', ascending: true, offset: 0, limit: 9 })
    expect(turns).toBe(0)
    const turnsOf: number[] = []
    let number = 0
    for await (const { version, config, system_prompt } of listed?.items ?? []) {
      expect({ version, config, system_prompt }).toEqual({
        version: number + 1,
        config: content(lengths[number] ?? 0).config,
        system_prompt: 'a',
      })
      turnsOf.push(turns)
      turns = 0
      number += 1
    }
    // One after each read of a short version, and many within a long one.
    expect(turnsOf.map((count) => Math.min(count, 5))).toEqual([1, 0, 0, 1, 1, 5, 1, 5])
    turns = 0
    await store.get(workspaceId, 'bot')
    expect(turns).toBeGreaterThan(4)
  })

  test('a version of many secrets is sealed and written in steps before its transaction', async () => {
    const database = await engine.open()
    const { workspaceId, create } = await preparePresets(database)
    const log: string[] = []
    const watched: typeof database = {
      ...database,
      transaction: (work, durability) => {
        log.push('transaction')
        return database.transaction(work, durability)
      },
    }
    const store = createPresetStore({ database: watched, seal: testSeal, startTurn: () => () => void log.push('turn') })
    const turnsOf = async (count: number) => {
      const tools = Array.from({ length: count }, (_, at) => ({ type: 'mcp', server_label: `s${at}`, authorization: `S3CRET-${at}` }))
      log.length = 0
      const input = {
        ...versionInput(workspaceId, 'many'),
        content: { shape: 'responses', config: { tools }, systemPrompt: null } as const,
      }
      expect(created(await store.createVersion(input)).designated_version.config).toEqual({ tools })
      expect((await store.get(workspaceId, 'many'))?.designated_version.config).toEqual({ tools })
      return log.indexOf('transaction')
    }
    await create('other')
    expect(await turnsOf(1)).toBeLessThan(6)
    expect(await turnsOf(9000)).toBeGreaterThan(9)
  })

  test('a large version is read in steps after the transaction of a draft beside it, and of a change', async () => {
    const database = await engine.open()
    const { workspaceId, create } = await preparePresets(database)
    const log: string[] = []
    const watched: typeof database = {
      ...database,
      async transaction(work, durability) {
        const result = await database.transaction(work, durability)
        log.push('transaction')
        return result
      },
    }
    const store = createPresetStore({ database: watched, seal: testSeal, startTurn: () => () => void log.push('turn') })
    const turnsOf = async (slug: string, length: number): Promise<readonly number[]> => {
      const config = { stop: 'é'.repeat(length).match(/.{1,999}/g) ?? [] }
      await create(slug, { content: { shape: 'chat', config, systemPrompt: null } })
      log.length = 0
      const saved = created(await store.createVersion({ ...versionInput(workspaceId, slug), designate: false }))
      expect([saved.designated_version.config, saved.saved_version?.version]).toEqual([config, 2])
      const behindDraft = countTurnsBehind(log)
      const outcome = await store.patch({ workspaceId, slug }, { name: 'n' }, changeAt(T1))
      expect(outcome).toMatchObject({ kind: 'patched', preset: { name: 'n', designated_version: { config } } })
      return [behindDraft, countTurnsBehind(log)]
    }
    expect(await turnsOf('small', 10)).toEqual([0, 0])
    for (const turns of await turnsOf('large', 800_000)) expect(turns).toBeGreaterThan(4)
  })

  test('every version moves the change counter, and a failed one does not', async () => {
    const database = await engine.open()
    const { create } = await preparePresets(database)
    const counter = createChangeCounter(database)
    const before = await counter.read()
    await create('bot', { versionId: 'twice' })
    expect(await counter.read()).toBe(before + 1)
    expect(await rejection(create('bot', { versionId: 'twice' }))).toBeInstanceOf(Error)
    expect(await counter.read()).toBe(before + 1)
  })
})

describeEachEngine('idempotency of preset creation', (engine) => {
  test('the same key and body replay the first answer and write nothing', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    const first = created(await create('bot', { idempotency: claimOf() }))
    const counter = await createChangeCounter(database).read()
    const again = await create('bot', { idempotency: claimOf(), now: T1 })
    expect(again).toEqual({ kind: 'replay', stored: { status: 200, body: JSON.stringify({ data: first }), warnings: [] } })
    expect(await store.get(workspaceId, 'bot')).toEqual(first)
    expect(await createChangeCounter(database).read()).toBe(counter)
  })

  test('the same key with another body is a mismatch and writes nothing', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    const first = created(await create('bot', { idempotency: claimOf() }))
    expect(create('bot', { idempotency: claimOf({ bodySha256: 'b'.repeat(64) }) })).rejects.toThrow(
      'This Idempotency-Key was used with another request. Use a new key for a new request.',
    )
    expect(await store.get(workspaceId, 'bot')).toEqual(first)
  })

  test('a key counts for its own slug and route', async () => {
    const { create } = await preparePresets(await engine.open())
    created(await create('bot', { idempotency: claimOf() }))
    expect(created(await create('other', { idempotency: claimOf() })).designated_version.version).toBe(1)
    expect(created(await create('bot', { idempotency: claimOf({ route: 'other' }) })).designated_version.version).toBe(2)
  })

  test('an expired key is as new, and then replays the new answer', async () => {
    const { create } = await preparePresets(await engine.open())
    created(await create('bot', { idempotency: claimOf() }))
    const later = claimOf({ bodySha256: 'b'.repeat(64), expiredBefore: T1 })
    const second = created(await create('bot', { idempotency: later, now: T2 }))
    expect(second.designated_version.version).toBe(2)
    expect(await create('bot', { idempotency: later, now: T2 })).toEqual({
      kind: 'replay',
      stored: { status: 200, body: JSON.stringify({ data: second }), warnings: [] },
    })
  })

  test('16 simultaneous requests with one key make one version', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    const outcomes = await Promise.all(Array.from({ length: 16 }, () => create('bot', { idempotency: claimOf() })))
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'replay')).toHaveLength(15)
    expect((await store.get(workspaceId, 'bot'))?.designated_version.version).toBe(1)
  })

  test('a creation that fails leaves no claim behind', async () => {
    const { create } = await preparePresets(await engine.open())
    await create('bot', { versionId: 'taken' })
    expect(await rejection(create('bot', { versionId: 'taken', idempotency: claimOf() }))).toBeInstanceOf(Error)
    expect(created(await create('bot', { idempotency: claimOf() })).designated_version.version).toBe(2)
  })

  test('old answers are forgotten, a limited number at a time', async () => {
    const { create, store } = await preparePresets(await engine.open())
    for (const key of ['a', 'b', 'c']) await create('bot', { idempotency: claimOf({ key }) })
    await create('bot', { idempotency: claimOf({ key: 'young' }), now: T2 })
    expect(await store.deleteIdempotencyKeys(T1, 2)).toBe(2)
    expect(await store.deleteIdempotencyKeys(T1, 2)).toBe(1)
    expect(await store.deleteIdempotencyKeys(T1, 2)).toBe(0)
    expect((await create('bot', { idempotency: claimOf({ key: 'young' }) })).kind).toBe('replay')
  })
})
