import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { KeptAnswer } from './evaluation-items.ts'
import { createEvaluationStore, type StoredEvaluation } from './evaluation-store.ts'
import { type FinishedGeneration, insertGenerations } from '../generations/generation-store.ts'
import { preparePresets, T0, T1, T2 } from '../testing/preset-input.ts'
import { generationRecord } from '../testing/generation-record.ts'

const ITEM = { messages: [{ role: 'user', content: 'half of a pair: \ud800, and \u0000' }], tools: null, expected: null }
const ANSWER: KeptAnswer = { generationId: 'gen-1', error: null, text: 'Hi', calls: [], costNanos: 7, ttftMs: 1.5, totalMs: 2 }
const LATER = '2026-11-20T10:00:09.000Z'

const evaluationOf = (workspaceId: string, id: string): StoredEvaluation => ({
  id,
  workspaceId,
  slug: 'bot',
  state: 'running',
  keyHash: 'k'.repeat(64),
  spec: { name: null, version: 1, baseline: null, checks: [], minPassRate: 1, concurrency: 4, budgetNanos: null },
  itemsTotal: 2,
  costNanos: 0,
  passed: null,
  reason: null,
  createdAt: T0,
  endedAt: null,
})

describeEachEngine('evaluations', (engine) => {
  test('are held by one process at a time, and go on with what was paid for', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    await create('bot')
    const store = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => undefined })
    expect(await store.create(evaluationOf(workspaceId, 'e-1'), [ITEM, ITEM], changedBy())).toBe('created')
    const taken = await Promise.all(['one', 'two', 'three'].map((holder) => store.take(holder, T1, T2)))
    expect(taken.filter((evaluation) => evaluation !== null)).toEqual([evaluationOf(workspaceId, 'e-1')])
    const holder = ['one', 'two', 'three'][taken.findIndex((evaluation) => evaluation !== null)]!
    expect(await store.hold('e-1', holder, T2)).toBe(true)
    expect(await store.hold('e-1', 'nobody', T2)).toBe(false)
    await store.keepAnswers('e-1', 1, { version: ANSWER }, 7)
    // The process that held it is gone.
    expect(await store.take('later', LATER, LATER)).toMatchObject({ id: 'e-1', costNanos: 7 })
    expect(await store.items('e-1')).toEqual([
      { position: 0, item: ITEM, result: null, answers: {} },
      { position: 1, item: ITEM, result: null, answers: { version: ANSWER } },
    ])
    const rows = await database.kysely.selectFrom('evaluation_items').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain('half of')
  })

  test('are sealed and read item by item, with turns between them', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    await create('bot')
    let turns = 0
    const startTurn = () => () => {
      turns += 1
      return undefined
    }
    const store = createEvaluationStore({ database, seal: testSeal, startTurn })
    const items = Array.from({ length: 450 }, () => ITEM)
    await store.create({ ...evaluationOf(workspaceId, 'e-1'), itemsTotal: items.length }, items, changedBy())
    expect(turns).toBeGreaterThanOrEqual(450)
    turns = 0
    expect((await store.items('e-1')).map(({ position }) => position)).toEqual(items.map((_, at) => at))
    expect(turns).toBeGreaterThanOrEqual(450)
  })

  test('of long items are read and written a few at a time, with turns between them', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    await create('bot')
    let turns = 0
    const store = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => void (turns += 1) })
    const long = { ...ITEM, messages: [{ role: 'user', content: 'x'.repeat(100_000) }] }
    const items = Array.from({ length: 40 }, (_, at) => (at % 4 === 0 ? ITEM : long))
    // One step for each item to seal or open it; 30 long items are written and read in 30 statements, or two per statement.
    await store.create({ ...evaluationOf(workspaceId, 'e-1'), itemsTotal: items.length }, items, changedBy())
    expect(turns).toBeGreaterThanOrEqual(40 + 15)
    turns = 0
    expect((await store.items('e-1')).map(({ item }) => item)).toEqual(items)
    expect(turns).toBeGreaterThanOrEqual(40 + 15)
  })

  test('go on where they were stopped, with whoever holds them, and not once they are done', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    await create('bot')
    const store = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => undefined })
    const [ref, evaluation] = [{ workspaceId, slug: 'bot' }, evaluationOf(workspaceId, 'e-1')]
    await store.create(evaluation, [ITEM, ITEM], changedBy())
    expect(await store.resume(evaluation, changeAt(T1))).toBe(false)
    await store.take('one', T0, T1)
    await store.end(evaluation, { state: 'stopped', passed: null, reason: 'no money' }, changeAt(T1))
    expect(await store.hold('e-1', 'one', T2)).toBe(false)
    const raised = { ...evaluation, spec: { ...evaluation.spec, budgetNanos: 5 } }
    expect(await store.resume(raised, changeAt(T1))).toBe(true)
    expect(await store.get(ref, 'e-1')).toEqual(raised)
    // The holder may not have noticed the end: nobody else runs it until the holder releases it.
    expect(await store.take('two', T0, T2)).toBeNull()
    expect(await store.hold('e-1', 'one', T1)).toBe(true)
    await store.release('e-1', 'two')
    expect(await store.take('two', T0, T2)).toBeNull()
    await store.release('e-1', 'one')
    expect(await store.take('two', T0, T2)).toEqual(raised)
    await store.end(evaluation, { state: 'done', passed: true, reason: null }, changeAt(T1))
    expect(await store.resume(evaluation, changeAt(T1))).toBe(false)
  })

  test('ask again what a budget ended on its way, or left without its tools, and count its cost', async () => {
    const database = await engine.open()
    const { workspaceId } = await preparePresets(database)
    const store = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => undefined })
    const made = (at: number, record: JsonObject) => generationOf(workspaceId, at, { request_id: `e-1/${at}/version`, ...record })
    const rows = [
      made(1, {}),
      made(2, { error_type: 'permission_denied', error: { message: 'No.', provider_name: null, limit_source: 'service_key_limit' } }),
      made(3, { error_type: 'payment_required' }),
      made(4, { stopped_by: 'budget' }),
      made(5, { error_type: 'permission_denied', error: { message: 'No.', provider_name: 'P' } }),
      made(6, { request_id: 'e-2/6/version' }),
      free(made(7, {})),
    ]
    await database.transaction((transaction) => insertGenerations(transaction, engine.name, rows))
    expect(await store.paid('e-1/')).toEqual({
      answered: new Map([
        ['e-1/1/version', 7],
        ['e-1/5/version', 7],
      ]),
      cutShortNanos: 21,
    })
  })

  test('of one preset, or of two, never touch one another', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    for (const slug of ['bot', 'other']) await create(slug)
    const store = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => undefined })
    const evaluations = [
      { ...evaluationOf(workspaceId, 'e-1'), itemsTotal: 3 },
      evaluationOf(workspaceId, 'e-2'),
      { ...evaluationOf(workspaceId, 'e-3'), slug: 'other' },
    ]
    for (const one of evaluations)
      await store.create(
        one,
        Array.from({ length: one.itemsTotal }, () => ITEM),
        changedBy(),
      )
    const [ref, other] = [
      { workspaceId, slug: 'bot' },
      { workspaceId, slug: 'other' },
    ]
    const idsOf = async (preset: typeof ref) => (await store.list(preset, { offset: 0, limit: 9 }))?.items.map(({ id }) => id).toSorted()
    expect([await idsOf(ref), await idsOf(other)]).toEqual([['e-1', 'e-2'], ['e-3']])
    expect([await store.get(ref, 'e-3'), await store.get(other, 'e-1')]).toEqual([null, null])
    const beside = async () => [
      await store.get(ref, 'e-2'),
      await store.items('e-2'),
      await store.get(other, 'e-3'),
      await store.items('e-3'),
    ]
    const before = await beside()
    const said = { text: 'Hi', calls: [], generation_id: null, error: null, cost: 0, ttft_ms: null, total_ms: 2, checks: [], passed: true }
    const steps: readonly (() => Promise<unknown>)[] = [
      () => store.keepAnswers('e-1', 1, { version: ANSWER }, 7),
      () => store.finishItem('e-1', 0, { answer: said, baseline: null, preference: null }),
      () => store.end(evaluations[0]!, { state: 'stopped', passed: null, reason: 'no money' }, changeAt(T1)),
      () => store.resume(evaluations[0]!, changeAt(T1)),
    ]
    for (const step of steps) {
      await step()
      expect(await beside()).toEqual(before)
    }
    const items = (await store.items('e-1')).map(({ result, answers }) => [result !== null, Object.keys(answers)])
    expect(items).toEqual([
      [true, []],
      [false, ['version']],
      [false, []],
    ])
    expect(await store.delete(other, 'e-1', changeAt(T2))).toBe(false)
    expect(await store.delete(ref, 'e-1', changeAt(T2))).toBe(true)
    expect(await beside()).toEqual(before)
  })

  test('are taken in the order in which they began, and listed with the last one first', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    await create('bot')
    const store = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => undefined })
    for (const [id, createdAt] of [
      ['e-2', T0],
      ['e-1', T1],
      ['e-3', T1],
    ] as const)
      await store.create({ ...evaluationOf(workspaceId, id), createdAt }, [ITEM], changedBy())
    const listed = await store.list({ workspaceId, slug: 'bot' }, { offset: 0, limit: 2 })
    expect(listed?.items.map(({ id }) => id)).toEqual(['e-3', 'e-1'])
    expect((await store.take('one', T1, T2))?.id).toBe('e-2')
  })

  test('end once, and leave nothing when they are deleted', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    await create('bot')
    const store = createEvaluationStore({ database, seal: testSeal, startTurn: () => () => undefined })
    const [ref, evaluation] = [{ workspaceId, slug: 'bot' }, evaluationOf(workspaceId, 'e-1')]
    await store.create(evaluation, [ITEM], changedBy())
    const end = () => store.end(evaluation, { state: 'done', passed: true, reason: null }, changeAt(T1))
    expect([await end(), await end()]).toEqual([true, false])
    expect(await store.take('one', T1, T2)).toBeNull()
    expect(await store.get(ref, 'e-1')).toMatchObject({ state: 'done', passed: true, endedAt: T1 })
    expect(await store.list(ref, { offset: 0, limit: 10 })).toMatchObject({ totalCount: 1 })
    expect(await store.get({ workspaceId: 'other', slug: 'bot' }, 'e-1')).toBeNull()
    expect([await store.delete(ref, 'e-1', changeAt(T2)), await store.delete(ref, 'e-1', changeAt(T2))]).toEqual([true, false])
    expect(await store.items('e-1')).toEqual([])
    expect(await store.paid('e-1/')).toEqual({ answered: new Map(), cutShortNanos: 0 })
  })
})

const free = ({ record, ...rest }: FinishedGeneration): FinishedGeneration => ({
  ...rest,
  record: { ...record, costNanos: 0, byokCostNanos: 0 },
})

const generationOf = (workspaceId: string, at: number, record: JsonObject): FinishedGeneration => ({
  userId: 'user-1',
  record: generationRecord({
    id: `gen-${at}`,
    createdAt: T1,
    workspaceId,
    keyHash: 'k'.repeat(64),
    presetId: 'p',
    presetVersion: 1,
    provider: null,
    costNanos: 3,
    byokCostNanos: 4,
    record,
  }),
})
