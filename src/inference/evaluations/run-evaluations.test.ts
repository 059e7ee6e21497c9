import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { PRINCIPAL } from '../../../test/support/pipelines.ts'
import { GatewayError } from '../../errors.ts'
import { systemClock } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import type { StoredItem } from '../../storage/presets/evaluation-items.ts'
import type { EvaluationEnd, StoredEvaluation } from '../../storage/presets/evaluation-store.ts'
import { StorageUnavailable } from '../../storage/storage-errors.ts'
import type { OwnAnswer } from '../own-request.ts'
import { type EvaluationRunnerParts, startEvaluations } from './run-evaluations.ts'

const EVALUATION: StoredEvaluation = {
  id: 'e-1',
  workspaceId: 'w-1',
  slug: 'bot',
  state: 'running',
  keyHash: PRINCIPAL.hash,
  spec: { name: null, version: 1, baseline: null, checks: [], minPassRate: 1, concurrency: 8, budgetNanos: null },
  itemsTotal: 100,
  costNanos: 0,
  passed: null,
  reason: null,
  createdAt: '2026-11-20T10:00:00.000Z',
  endedAt: null,
}

const ITEMS: readonly StoredItem[] = Array.from({ length: 100 }, (_, position) => ({
  position,
  item: { messages: [], tools: null, expected: null },
  result: null,
  answers: {},
}))

const ANSWER: OwnAnswer = {
  generationId: 'gen-1',
  error: null,
  text: 'Hi',
  calls: [],
  preset: null,
  status: 200,
  costNanos: 0,
  cutByBudget: false,
  ttftMs: 1,
  totalMs: 2,
}

const QUESTION = { dialect: 'chat', body: { messages: [] }, conversation: [], expected: null } as const

/** Runs the evaluation to its end; returns how many turns it offered to other work, and how it ended. */
const turnsOf = async (
  parts: Pick<EvaluationRunnerParts, 'readItem' | 'makeRequest'> &
    Partial<Pick<EvaluationRunnerParts, 'boundOf' | 'flush'>> & { readonly store?: Partial<EvaluationRunnerParts['store']> },
  evaluation: StoredEvaluation = EVALUATION,
): Promise<{ turns: number; end: EvaluationEnd }> => {
  const { promise, resolve } = Promise.withResolvers<EvaluationEnd>()
  let waiting: StoredEvaluation | null = evaluation
  let turns = 0
  const stop = startEvaluations({
    keys: { payer: async () => PRINCIPAL },
    boundOf: async () => 20e-9,
    startTurn: () => () => void (turns += 1),
    flush: async () => undefined,
    clock: systemClock,
    ids: systemIds,
    onError(thrown) {
      if (!(thrown instanceof StorageUnavailable)) throw thrown
    },
    ...parts,
    store: {
      async take() {
        const taken = waiting
        waiting = null
        return taken
      },
      hold: async () => true,
      paid: async () => ({ answered: new Map(), cutShortNanos: 0 }),
      items: async () => ITEMS,
      keepAnswers: async () => undefined,
      finishItem: async () => undefined,
      async end(_, end) {
        resolve(end)
        return true
      },
      async release() {
        waiting = evaluation
      },
      ...parts.store,
    },
  })
  const end = await promise
  await stop()
  return { turns, end }
}

test('others have their turn at each item and each request, also where nothing is waited for', async () => {
  const { turns, end } = await turnsOf({ readItem: async () => QUESTION, makeRequest: async () => ANSWER })
  expect(end.state).toBe('done')
  expect(turns).toBe(200)
})

test('others have their turn at each item whose request is gone', async () => {
  const gone = async (): Promise<never> => {
    throw new GatewayError('not_found')
  }
  const { turns, end } = await turnsOf({ readItem: gone, makeRequest: gone })
  expect(end.state).toBe('done')
  expect(turns).toBe(100)
})

test.each([
  [
    'the limit of the key',
    new GatewayError('permission_denied', 'The limit is exhausted.', { metadata: { limit_source: 'service_key_limit' } }),
  ],
  ['the credit of the workspace', new GatewayError('payment_required', 'No credit.', { metadata: { limit_source: 'service_credits' } })],
])('an evaluation stops, with the reason, where %s is exhausted', async (_, error) => {
  const { end } = await turnsOf({ readItem: async () => QUESTION, makeRequest: async () => ({ ...ANSWER, error }) })
  expect(end).toMatchObject({ state: 'stopped', passed: null, reason: error.message })
})

test('answers that were paid for and lost count in the budget, and those that are stored do not count twice', async () => {
  const kept = { generationId: 'gen-1', error: null, text: 'Hi', calls: [], costNanos: 10, ttftMs: 1, totalMs: 2 }
  const items = ITEMS.map((item) => (item.position === 0 ? { ...item, answers: { version: kept } } : item))
  const answered = new Map(['e-1/0/version', 'e-1/5/version', 'e-1/6/version', 'e-1/7/version'].map((id) => [id, 10]))
  let asked = 0
  const { end } = await turnsOf(
    {
      readItem: async () => QUESTION,
      async makeRequest() {
        asked += 1
        return { ...ANSWER, costNanos: 20 }
      },
      store: { items: async () => items, paid: async () => ({ answered, cutShortNanos: 0 }) },
    },
    { ...EVALUATION, costNanos: 10, spec: { ...EVALUATION.spec, concurrency: 1, budgetNanos: 100 } },
  )
  // Three of twenty fit beside the ten that are stored and the thirty that are lost.
  expect([end.state, asked]).toEqual(['stopped', 3])
})

const away = (): never => {
  throw new StorageUnavailable('The database is away.')
}

/** How many requests an evaluation with a budget of 100 nano-dollars makes, one after another, and how it ends. */
const withBudget = async (costNanos: number, boundUsd: number | null, cutShortNanos = 0) => {
  let asked = 0
  const { end } = await turnsOf(
    {
      readItem: async () => QUESTION,
      async makeRequest() {
        asked += 1
        return { ...ANSWER, costNanos }
      },
      boundOf: async () => boundUsd,
      store: { paid: async () => ({ answered: new Map(), cutShortNanos }) },
    },
    { ...EVALUATION, spec: { ...EVALUATION.spec, concurrency: 1, budgetNanos: 100 } },
  )
  return { asked, ...end }
}

test('a budget bears what requests cost, and before the next one what that may cost at most', async () => {
  expect(await withBudget(5, 20e-9)).toMatchObject({ state: 'stopped', asked: 17 })
  expect(await withBudget(20, 20e-9)).toMatchObject({ state: 'stopped', asked: 5 })
  expect(await withBudget(20, 20e-9, 60)).toMatchObject({ state: 'stopped', asked: 2 })
  expect(await withBudget(0, null)).toMatchObject({ state: 'stopped', asked: 0, reason: expect.stringContaining('price is not known') })
})

test('what is stored, or was paid for and lost, is not asked again, and the records of all answers are read', async () => {
  const kept = { generationId: 'gen-1', error: null, text: 'Hi', calls: [], costNanos: 10, ttftMs: 1, totalMs: 2 }
  const asked: string[] = []
  let isFlushed = false
  const { end } = await turnsOf({
    readItem: async () => QUESTION,
    async makeRequest({ requestId }) {
      asked.push(requestId)
      return ANSWER
    },
    flush: async () => void (isFlushed = true),
    store: {
      items: async () => ITEMS.map((item) => (item.position === 0 ? { ...item, answers: { version: kept } } : item)),
      paid: async () => ({ answered: new Map(isFlushed ? [['e-1/5/version', 10]] : []), cutShortNanos: 0 }),
    },
  })
  expect([end.state, asked.length, asked.includes('e-1/0/version'), asked.includes('e-1/5/version')]).toEqual(['done', 98, false, false])
})

test.each([
  [0.5, true],
  [0.51, false],
])('an evaluation of which half of the items pass, and %p must, has passed: %p', async (minPassRate, passed) => {
  const outcome = { text: 'Hi', calls: [], generation_id: null, error: null, cost: 0, ttft_ms: null, total_ms: 1, checks: [] }
  const items = ITEMS.map((item) => ({
    ...item,
    result: { answer: { ...outcome, passed: item.position % 2 === 0 }, baseline: null, preference: null },
  }))
  const { end } = await turnsOf(
    { readItem: async () => QUESTION, makeRequest: async () => ANSWER, store: { items: async () => items } },
    { ...EVALUATION, spec: { ...EVALUATION.spec, minPassRate } },
  )
  expect(end).toEqual({ state: 'done', passed, reason: null })
})

test('after a failure that is not of storage no other item begins', async () => {
  let asked = 0
  const { end } = await turnsOf(
    {
      readItem: async () => QUESTION,
      async makeRequest() {
        asked += 1
        return ANSWER
      },
      store: { keepAnswers: () => Promise.reject(new Error('a bug')) },
    },
    { ...EVALUATION, spec: { ...EVALUATION.spec, concurrency: 1 } },
  )
  expect([end.state, asked]).toEqual(['stopped', 1])
})

/** Evaluations whose requests are answered only when they are given up. */
const startHanging = (hold: EvaluationRunnerParts['store']['hold']) => {
  const clock = createFakeClock()
  const happened = { taken: 0, asked: 0, aborted: 0, kept: 0, ended: 0 }
  const stop = startEvaluations({
    keys: { payer: async () => PRINCIPAL },
    boundOf: async () => null,
    startTurn: () => () => undefined,
    flush: async () => undefined,
    clock,
    ids: systemIds,
    onError: () => undefined,
    readItem: async () => QUESTION,
    async makeRequest({ signal }) {
      happened.asked += 1
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      happened.aborted += 1
      return ANSWER
    },
    store: {
      async take() {
        happened.taken += 1
        return { ...EVALUATION, id: `e-${happened.taken}` }
      },
      hold,
      paid: async () => ({ answered: new Map(), cutShortNanos: 0 }),
      items: async () => ITEMS,
      keepAnswers: async () => void (happened.kept += 1),
      finishItem: async () => undefined,
      end: async () => {
        happened.ended += 1
        return true
      },
      release: async () => undefined,
    },
  })
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100)
      for (let turns = 0; turns < 10; turns += 1) await turn()
    }
  }
  return { happened, pass, stop }
}

test('a process works on two evaluations at once, and leaves them unfinished when it ends', async () => {
  const { happened, pass, stop } = startHanging(async () => true)
  await pass(5000)
  expect(happened).toEqual({ taken: 2, asked: 16, aborted: 0, kept: 0, ended: 0 })
  await stop()
  expect(happened).toEqual({ taken: 2, asked: 16, aborted: 16, kept: 0, ended: 0 })
})

test('an evaluation that another process holds is given up at once, and one whose hold cannot be renewed before that ends', async () => {
  const lost = startHanging(async () => false)
  await lost.pass(3500)
  expect(lost.happened.aborted).toBe(8)
  await lost.stop()
  const cutOff = startHanging(async () => away())
  await cutOff.pass(10_400)
  expect(cutOff.happened.aborted).toBe(0)
  await cutOff.pass(100)
  expect(cutOff.happened).toMatchObject({ aborted: 8, kept: 0, ended: 0 })
  await cutOff.stop()
})

test('an answer whose tools the budget did not bear stops the evaluation, and is kept as the result of no item', async () => {
  const finished: number[] = []
  const { end } = await turnsOf({
    readItem: async () => QUESTION,
    makeRequest: async () => ({ ...ANSWER, cutByBudget: true }),
    store: { finishItem: async (_id, position) => void finished.push(position) },
  })
  expect(end).toMatchObject({ state: 'stopped', passed: null, reason: expect.stringContaining('did not bear the tools') })
  expect(finished).toEqual([])
})

test('a budget that running requests fill for now is waited for, and stops nothing', async () => {
  const full = new GatewayError('payment_required', undefined, {
    retryAfterSeconds: 0.001,
    metadata: { limit_source: 'service_in_flight_budget' },
  })
  let asked = 0
  const { end } = await turnsOf({
    readItem: async () => QUESTION,
    async makeRequest() {
      asked += 1
      return asked % 3 === 0 ? { ...ANSWER, generationId: null, error: full } : ANSWER
    },
  })
  expect([end.state, end.reason]).toEqual(['done', null])
  expect(asked).toBeGreaterThan(100)
})

test('a request that its key may not make fails its item, and the evaluation goes on', async () => {
  const error = new GatewayError('permission_denied')
  const { end } = await turnsOf({ readItem: async () => QUESTION, makeRequest: async () => ({ ...ANSWER, error }) })
  expect(end.state).toBe('done')
})

test('an answer that storage does not take is kept once it does, and nothing is asked twice', async () => {
  let [asked, refused] = [0, 0]
  const kept = new Set<number>()
  const { end } = await turnsOf({
    readItem: async () => QUESTION,
    async makeRequest() {
      asked += 1
      return { ...ANSWER, costNanos: 5 }
    },
    store: {
      async keepAnswers(_, position) {
        if (position < 8 && refused < 16) {
          refused += 1
          away()
        }
        kept.add(position)
      },
    },
  })
  expect([end.state, asked, kept.size, refused]).toEqual(['done', 100, 100, 16])
})

test('an evaluation goes on by itself after a time in which storage takes no results', async () => {
  let writes = 0
  const { end } = await turnsOf({
    readItem: async () => QUESTION,
    makeRequest: async () => ANSWER,
    store: {
      async finishItem() {
        writes += 1
        if (writes < 4) away()
      },
    },
  })
  expect([end.state, end.reason]).toEqual(['done', null])
})

test('an evaluation goes on by itself after a time in which storage cannot tell what is left of a budget, and no item fails for it', async () => {
  const error = new GatewayError('provider_overloaded', undefined, { status: 503, cause: new StorageUnavailable('away') })
  let asked = 0
  const failed: unknown[] = []
  const { end } = await turnsOf({
    readItem: async () => QUESTION,
    async makeRequest() {
      asked += 1
      return { ...ANSWER, error: asked < 4 ? error : null }
    },
    store: {
      async finishItem(_id, _position, { answer }) {
        if (answer.error !== null) failed.push(answer.error)
      },
    },
  })
  expect([end.state, end.reason, failed]).toEqual(['done', null, []])
})
