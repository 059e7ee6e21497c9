import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { changeAt, changedBy } from '../../test/support/changed-by.ts'
import { describeEachEngine } from '../../test/support/databases.ts'
import { testSeal } from '../../test/support/test-seal.ts'
import type { Outcome } from '../contract/evaluation.ts'
import { GatewayError } from '../errors.ts'
import { layOut } from '../presets/split.ts'
import type { Database } from './database.ts'
import { createEvaluationStore, type StoredEvaluation } from './presets/evaluation-store.ts'
import type { PresetRef } from './presets/preset-ref.ts'
import { createRolloutStore } from './presets/rollout-store.ts'
import { StorageConflict } from './storage-errors.ts'
import { claimOf, preparePresets, T1, T2 } from './testing/preset-input.ts'
import { rejection, rejectionText } from './testing/rejection.ts'
import { patient } from '../../test/support/patience.ts'

/** Acts like another process that has written to the preset and has not committed. */
const holdLock = async (database: Database): Promise<() => Promise<void>> => {
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const transaction = database.transaction(async (transaction) => {
    await transaction.updateTable('presets').set({ name: 'locked' }).execute()
    hold()
    await released
    throw new Error('rolled back')
  })
  const ended = transaction.catch(() => {})
  await held
  return async () => {
    release()
    await ended
  }
}

const OUTCOME: Outcome = {
  text: 'Hi',
  calls: [],
  generation_id: null,
  error: null,
  cost: 0,
  ttft_ms: null,
  total_ms: 1,
  checks: [],
  passed: true,
}

const evaluationOf = (preset: PresetRef): StoredEvaluation => ({
  id: 'e',
  ...preset,
  state: 'running',
  keyHash: 'k'.repeat(64),
  spec: { name: null, version: 1, baseline: null, checks: [], minPassRate: 1, concurrency: 1, budgetNanos: null },
  itemsTotal: 1,
  costNanos: 0,
  passed: null,
  reason: null,
  createdAt: T1,
  endedAt: null,
})

/** Well below the two seconds for which a transaction waits for a lock (docs/contract/presets.md#conflicts). */
const SHORT_LOCK_MS = 500

describeEachEngine('contention', (engine) => {
  test('StorageConflict within 3 s, and nothing written, while another connection holds the lock; reads go on; then all is well', async () => {
    const location = await engine.locate()
    const { create, store, workspaceId } = await preparePresets(await engine.open(location))
    await create('bot')
    const before = await store.get(workspaceId, 'bot')
    const release = await holdLock(await engine.open(location))

    const start = performance.now()
    const blocked = create('bot', { idempotency: claimOf() }).catch((error: unknown) => error)
    expect(await store.get(workspaceId, 'bot')).toEqual(before)
    expect(await blocked).toBeInstanceOf(StorageConflict)
    expect(performance.now() - start).toBeLessThan(patient(3000))

    await release()
    expect(await store.get(workspaceId, 'bot')).toEqual(before)
    expect(await create('bot', { idempotency: claimOf() })).toMatchObject({
      kind: 'created',
      preset: { designated_version: { version: 2 } },
    })
  })

  test('a short lock of another connection is waited for, and the process goes on meanwhile', async () => {
    const location = await engine.locate()
    const { create } = await preparePresets(await engine.open(location))
    await create('bot')
    const release = await holdLock(await engine.open(location))
    const waiting = Promise.all(Array.from({ length: 50 }, () => create('bot')))
    let longestStallMs = 0
    const began = performance.now()
    // On a busy machine a turn takes longer, and the lock would not be short.
    for (let turns = 0; turns < 200 && performance.now() - began < SHORT_LOCK_MS; turns++) {
      const start = performance.now()
      await Bun.sleep(1)
      longestStallMs = Math.max(longestStallMs, performance.now() - start)
    }
    expect(longestStallMs).toBeLessThan(patient(200))
    await release()
    const numbers = (await waiting).map((outcome) => (outcome.kind === 'created' ? outcome.preset.designated_version.version : 0))
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 2))
  })

  test('reads go on while results of evaluations and looks at rollouts wait for a lock of another connection', async () => {
    const location = await engine.locate()
    const database = await engine.open(location)
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    const ref = { workspaceId, slug: 'bot' }
    const evaluations = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => undefined })
    const rollouts = createRolloutStore(database)
    const splits = [{ version: 1, weight: 1 }]
    await evaluations.create(evaluationOf(ref), [{ messages: [], tools: null, expected: null }], changedBy())
    await rollouts.put(ref, { id: 'r', splits, sticky: 'session', halt: null }, () => layOut(splits), changeAt(T1))
    const [rollout] = (await rollouts.running()).read
    const release = await holdLock(await engine.open(location))
    const writes = [
      evaluations.take('own', T1, T2),
      evaluations.hold('e', 'nobody', T2),
      evaluations.finishItem('e', 0, { answer: OUTCOME, baseline: null, preference: null }),
      evaluations.release('e', 'nobody'),
      rollouts.noteLooks(rollout!, { 1: 1 }),
    ]
    const ended = Promise.allSettled(writes)
    await store.get(workspaceId, 'bot')
    await release()
    expect((await ended).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : outcome.value))).toEqual([
      expect.objectContaining({ id: 'e' }),
      false,
      undefined,
      undefined,
      undefined,
    ])
    expect((await rollouts.running()).read.map(({ looks }) => looks)).toEqual([{ 1: 1 }])
    expect((await evaluations.items('e'))[0]?.result?.answer).toEqual(OUTCOME)
  })

  test('saves that wait for one preset leave the connections to others, and fail together where its lock is not given up', async () => {
    const location = await engine.locate()
    const database = await engine.open(location)
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    const release = await holdLock(await engine.open(location))
    const start = performance.now()
    let isOver = false
    const blocked = Promise.all(Array.from({ length: 40 }, () => rejection(create('bot')))).finally(() => (isOver = true))
    // As many at once as there are connections, minus one.
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 9 }, () => store.get(workspaceId, 'bot')))
      expect(isOver).toBe(false)
    }
    for (const error of await blocked) expect(error).toBeInstanceOf(StorageConflict)
    expect(performance.now() - start).toBeLessThan(patient(3000))
    await release()
    expect((await create('bot')).kind).toBe('created')
  })

  test('a read beside an open transaction of the same process does not see what is not committed', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    const release = await holdLock(database)
    const reading = store.get(workspaceId, 'bot')
    await Bun.sleep(10)
    await release()
    expect((await reading)?.name).toBe('bot')
  })

  test('a transaction that throws leaves nothing and lets the next one in', async () => {
    const database = await engine.open()
    const { create, store, workspaceId } = await preparePresets(database)
    await create('bot')
    const failing = database.transaction(async (transaction) => {
      await transaction.updateTable('presets').set({ name: 'half' }).execute()
      throw new Error('bug')
    })
    expect(await rejectionText(failing)).toContain('bug')
    expect((await store.get(workspaceId, 'bot'))?.name).toBe('bot')
    expect((await create('bot')).kind).toBe('created')
  })
})

describeEachEngine('values at the border', (engine) => {
  test('an integer that JavaScript cannot hold exactly is refused when read', async () => {
    const { kysely } = await engine.open()
    const largest = await sql<{ value: number }>`select cast(9007199254740991 as bigint) as value`.execute(kysely)
    expect(largest.rows).toEqual([{ value: 9007199254740991 }])
    expect(await rejection(sql`select cast(9007199254740992 as bigint) as value`.execute(kysely))).toBeInstanceOf(RangeError)
    expect(await rejection(sql`select cast(-9007199254740993 as bigint) as value`.execute(kysely))).toBeInstanceOf(RangeError)
  })

  test('text with U+0000 is refused as the client’s fault', async () => {
    const { create, store, workspaceId } = await preparePresets(await engine.open())
    await create('bot')
    const patch = store.patch({ workspaceId, slug: 'bot' }, { name: 'a\u0000b' }, changeAt(T1))
    expect(await rejection(patch)).toBeInstanceOf(GatewayError)
    expect((await store.get(workspaceId, 'bot'))?.name).toBe('bot')
  })

  test('a column takes only its own type, and only the values it knows', async () => {
    const database = await engine.open()
    await preparePresets(database)
    for (const set of [sql`value = 'many'`, sql`id = 2`]) {
      expect(
        await rejection(database.transaction((transaction) => sql`update change_counter set ${set}`.execute(transaction))),
      ).toBeInstanceOf(Error)
    }
  })
})
