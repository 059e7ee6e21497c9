import { expect, test } from 'bun:test'

import { changeAt } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { DEFAULT_HALT } from '../../contract/halt-rule.ts'
import { layOut } from '../../presets/split.ts'
import type { Database } from '../database.ts'
import { type FinishedGeneration, insertGenerations } from '../generations/generation-store.ts'
import { createRolloutStore, type RunningRollout, type StoredRollout } from './rollout-store.ts'
import { preparePresets, T1, T2 } from '../testing/preset-input.ts'
import { generationRecord } from '../testing/generation-record.ts'

const SPLITS = [
  { version: 1, weight: 9 },
  { version: 2, weight: 1 },
]

const prepare = async (database: Database) => {
  const { create, store, workspaceId } = await preparePresets(database)
  await create('bot')
  await create('bot', { designate: false })
  const rollouts = createRolloutStore(database)
  const ref = { workspaceId, slug: 'bot' }
  const put = (id: string, now = T1) =>
    rollouts.put(ref, { id, splits: SPLITS, sticky: 'session', halt: null }, (_, before) => layOut(SPLITS, before), changeAt(now))
  return { rollouts, ref, put, store, create }
}

const served = (workspaceId: string, at: number, version: number, more: object): FinishedGeneration => ({
  userId: 'user-1',
  record: generationRecord({
    id: `gen-${at}`,
    createdAt: T1,
    workspaceId,
    keyHash: 'k'.repeat(64),
    presetId: 'p',
    presetVersion: version,
    provider: null,
    costNanos: 5_000_000_000,
    record: { rollout_id: 'r-1', latency: at, generation_time: 10 * at, pipeline: [], ...more },
  }),
})

describeEachEngine('rollouts', (engine) => {
  test('are read with the preset that they serve, until they end', async () => {
    const { rollouts, ref, put, store } = await prepare(await engine.open())
    const resolve = async () => {
      const found = await store.resolve(ref.workspaceId, ref.slug, { by: 'designation' })
      return found.kind === 'found' ? found.rollout : null
    }
    expect(await resolve()).toBeNull()
    expect(await put('r-1')).toMatchObject({ kind: 'put', rollout: { liveVersion: 1, startedAt: T1 } })
    expect([...((await resolve())?.versions.keys() ?? [])]).toEqual([1, 2])
    expect(await put('r-2', T2)).toMatchObject({ rollout: { id: 'r-2', startedAt: T1, updatedAt: T2 } })
    expect(await rollouts.end(ref, changeAt(T2))).toBe(true)
    expect(await resolve()).toBeNull()
    expect(await rollouts.end(ref, changeAt(T2))).toBe(false)
    expect(await rollouts.get(ref)).toMatchObject({ state: 'ended', endedAt: T2 })
  })

  test('belong to one preset of one workspace, and need its versions; a halt rule needs a share of the live one', async () => {
    const { rollouts, ref, put } = await prepare(await engine.open())
    await put('r-1')
    for (const other of [
      { ...ref, slug: 'other' },
      { ...ref, workspaceId: 'other' },
    ]) {
      expect(await rollouts.get(other)).toBeNull()
      expect(await rollouts.end(other, changeAt(T2))).toBe(false)
    }
    const outcome = async (splits: typeof SPLITS, halt: StoredRollout['halt'] = DEFAULT_HALT, of = ref) =>
      rollouts.put(of, { id: 'r-2', splits, sticky: 'session', halt }, (_, before) => layOut(splits, before), changeAt(T2))
    expect(await outcome(SPLITS, null, { ...ref, slug: 'other' })).toEqual({ kind: 'no-such-preset' })
    expect(await outcome([...SPLITS, { version: 3, weight: 1 }])).toEqual({ kind: 'no-such-version', version: 3 })
    const [live, candidate] = [
      { version: 1, weight: 0 },
      { version: 2, weight: 1 },
    ]
    expect(await outcome([candidate])).toEqual({ kind: 'live-version-missing', live: 1 })
    expect(await outcome([live, candidate])).toEqual({ kind: 'live-version-missing', live: 1 })
    expect(await rollouts.get(ref)).toMatchObject({ id: 'r-1', halt: null })
    expect(await outcome([live, candidate], null)).toMatchObject({ kind: 'put', rollout: { segments: [{ end: 1_000_000, version: 2 }] } })
    expect(await outcome(SPLITS)).toMatchObject({ kind: 'put', rollout: { halt: DEFAULT_HALT } })
    expect(await rollouts.get(ref)).toMatchObject({ id: 'r-2', state: 'running', halt: DEFAULT_HALT, splits: SPLITS })
  })

  test('of one preset end without touching those of another, and each change of them is in the audit log', async () => {
    const database = await engine.open()
    const { rollouts, ref, put, create } = await prepare(database)
    await create('other')
    await create('other', { designate: false })
    const other = { ...ref, slug: 'other' }
    await rollouts.put(other, { id: 'r-other', splits: SPLITS, sticky: 'user', halt: DEFAULT_HALT }, () => [], changeAt(T1))
    await put('r-1')
    await put('r-2')
    await rollouts.end(ref, changeAt(T2))
    expect(await rollouts.get(other)).toMatchObject({ id: 'r-other', state: 'running', halt: DEFAULT_HALT, endedAt: null })
    expect(await rollouts.get(ref)).toMatchObject({ id: 'r-2', state: 'ended' })
    const entries = await database.kysely.selectFrom('audit_log').selectAll().where('action', 'like', 'rollout%').execute()
    const [byUser, bySession] = [
      { splits: SPLITS, sticky: 'user', halt: DEFAULT_HALT },
      { splits: SPLITS, sticky: 'session', halt: false },
    ]
    const told = entries.map(({ action, before, after }) => [action, JSON.parse(before ?? 'null'), JSON.parse(after ?? 'null')])
    expect(told).toHaveLength(4)
    for (const entry of [
      ['rollout_started', null, byUser],
      ['rollout_started', null, bySession],
      ['rollout_changed', bySession, bySession],
      ['rollout_ended', bySession, null],
    ])
      expect(told).toContainEqual(entry)
  })

  test('keep the callers of each version when shares change, and begin anew after an end', async () => {
    const { rollouts, ref } = await prepare(await engine.open())
    const seen: StoredRollout['segments'][] = []
    const put = (id: string) =>
      rollouts.put(
        ref,
        { id, splits: SPLITS, sticky: 'session', halt: null },
        (live, before) => {
          seen.push(before)
          return [{ end: 1_000_000, version: live }]
        },
        changeAt(T1),
      )
    await put('r-1')
    await put('r-2')
    await rollouts.end(ref, changeAt(T2))
    await put('r-3')
    expect(seen).toEqual([[], [{ end: 1_000_000, version: 1 }], []])
    expect(await rollouts.get(ref)).toMatchObject({ looks: {}, endedAt: null, startedAt: T1 })
  })

  test('halt once, whoever looked first, and not where they were changed meanwhile', async () => {
    const { rollouts, put } = await prepare(await engine.open())
    await put('r-1')
    const [one] = (await rollouts.running()).read as [RunningRollout]
    await rollouts.noteLooks(one, { 2: 1 })
    await rollouts.noteLooks(one, { 2: 7 })
    expect(await rollouts.halt(one, 'worse', changeAt(T2))).toBe(false)
    await put('r-2')
    await rollouts.noteLooks({ ...one, looks: { 2: 1 } }, { 2: 2 })
    expect(await rollouts.halt({ ...one, looks: { 2: 1 } }, 'worse', changeAt(T2))).toBe(false)
    const [two] = (await rollouts.running()).read as [RunningRollout]
    expect(two.looks).toEqual({ 2: 1 })
    const halted = await Promise.all([1, 2, 3].map(() => rollouts.halt(two, 'worse', changeAt(T2))))
    expect(halted.filter(Boolean)).toHaveLength(1)
    expect((await rollouts.running()).read).toEqual([])
  })

  test('sum what was recorded of their requests, by version', async () => {
    const database = await engine.open()
    const { rollouts, ref } = await prepare(database)
    const failed = { error_type: 'timeout', pipeline: [{ type: 'guardrail', name: 'content-filter', summary: 's' }] }
    const rows = [
      ...Array.from({ length: 20 }, (_, at) => served(ref.workspaceId, at + 1, 1, {})),
      served(ref.workspaceId, 100, 2, failed),
      served(ref.workspaceId, 101, 2, { error_type: 'payment_required' }),
      served(ref.workspaceId, 102, 2, { rollout_id: 'r-2' }),
      served(ref.workspaceId, 103, 2, { error_type: 'permission_denied', error: { message: 'No.', limit_source: 'service_key_limit' } }),
    ]
    await database.transaction((transaction) => insertGenerations(transaction, engine.name, rows.toReversed()))
    const [one, two] = (await rollouts.figures('r-1')).toSorted((first, second) => first.version - second.version)
    expect(one).toEqual({ version: 1, requests: 20, errors: 0, cancelled: 0, guardrailHits: 0, costSum: 1e11, costSquares: 5e20 })
    expect(two).toMatchObject({ version: 2, requests: 3, errors: 1, guardrailHits: 1 })
    expect(await rollouts.quantiles('r-1', 1, 'first_token_ms')).toEqual({ p50: 11, p95: 20 })
    expect(await rollouts.quantiles('r-1', 2, 'first_token_ms')).toEqual({ p50: 101, p95: 103 })
    expect(await rollouts.quantiles('r-3', 1, 'total_ms')).toEqual({ p50: null, p95: null })
  })

  test('that many change at once leave connections to others while another process holds the preset', async () => {
    const location = await engine.locate()
    const database = await engine.open(location)
    const { rollouts, ref, put } = await prepare(database)
    const other = await engine.open(location)
    const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = other.transaction(async (transaction) => {
      await transaction.updateTable('presets').set({ description: 'held' }).where('slug', '=', 'bot').execute()
      locked.resolve()
      await release.promise
    })
    await locked.promise
    const asked = () => Promise.all(Array.from({ length: 5 }, () => database.ping()))
    await asked()
    let settled = 0
    const changes = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? put(`r-${at}`) : rollouts.end(ref, changeAt(T2))))
    const outcome = Promise.allSettled(changes.map((change) => change.finally(() => (settled += 1))))
    await asked()
    expect(settled).toBe(0)
    release.resolve()
    await Promise.all([holding, outcome])
  })
})
