/**
 * Runs evaluations in the background, in whichever process takes them: one process at a time holds an evaluation and keeps renewing the
 * hold; if that process is gone, another one continues after a few seconds. An answer is stored as soon as it arrives, and a request that
 * was paid for is never made again (decisions/0066).
 */
import { GatewayError } from '../../errors.ts'
import { isBudgetRefusal, isUnpaid } from '../../ledger/refusal.ts'
import type { Keys, Principal } from '../../keys/keys.ts'
import { type Clock, isoTimestamp, pauseUnlessAborted } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import { dollars, nanosOf } from '../../lib/money.ts'
import { repeat } from '../../lib/repeat.ts'
import type { Turn } from '../../lib/steps.ts'
import type { KeptAnswer, StoredItem } from '../../storage/presets/evaluation-items.ts'
import type { EvaluationEnd, EvaluationStore, PaidRequests, StoredEvaluation } from '../../storage/presets/evaluation-store.ts'
import { StorageConflict, StorageUnavailable } from '../../storage/storage-errors.ts'
import { asFailure } from '../as-failure.ts'
import type { MakeRequest, OwnAnswer, OwnBody } from '../own-request.ts'
import type { ItemRequest, ReadItem } from './item-request.ts'
import { lostItem, runItem } from './run-item.ts'
import { summaryOf } from './summary.ts'

export interface EvaluationRunnerParts {
  readonly store: Pick<EvaluationStore, 'take' | 'hold' | 'paid' | 'items' | 'keepAnswers' | 'finishItem' | 'end' | 'release'>
  readonly keys: Pick<Keys, 'payer'>
  readonly readItem: ReadItem
  readonly makeRequest: MakeRequest
  /** The maximum cost of a request in dollars; null if it is not known. */
  readonly boundOf: (principal: Principal, request: OwnBody) => Promise<number | null>
  /**
   * Yields between items: if nothing is waited for, for example because each item is refused at once, thousands of items would otherwise be
   * one step.
   */
  readonly startTurn: () => Turn
  /** Resolves when the records of all answers are written. */
  readonly flush: () => Promise<void>
  readonly clock: Clock
  readonly ids: IdSource
  readonly onError: (thrown: unknown, doing: string) => void
}

const POLL_MS = 500
const HELD_MS = 10_000
const RENEW_MS = 3000
/** The maximum number of evaluations that run at once in this process. */
const RUNNING_MAX = 2
const REQUEST_MS = 10 * 60_000
/** The pause between attempts to store an answer while storage is unavailable. */
const KEEP_AGAIN_MS = 500

/** Takes running evaluations and works on them until it is stopped; unfinished ones are left to another process. */
export const startEvaluations = (parts: EvaluationRunnerParts): (() => Promise<void>) => {
  const { store, clock, ids, onError } = parts
  const holder = ids.prefixed('runner')
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const stop = repeat(
    clock,
    POLL_MS,
    async () => {
      if (running.size >= RUNNING_MAX) return
      const taken = await store.take(holder, isoTimestamp(clock.now()), isoTimestamp(clock.now() + HELD_MS))
      if (taken === null) return
      const run = runEvaluation(taken, holder, stopping.signal, parts)
        .catch((thrown: unknown) => onError(thrown, 'an evaluation was interrupted'))
        .finally(() => running.delete(run))
      running.add(run)
    },
    (thrown) => onError(thrown, 'no evaluations taken up'),
  )
  return async () => {
    stop()
    stopping.abort()
    await Promise.all(running)
  }
}

/** No more requests are made: the process ends, someone cancelled, or the money is used up. */
class Interrupted extends Error {
  override readonly name = 'Interrupted'
  /** How the evaluation ends as a result; null if it continues elsewhere. */
  readonly end: EvaluationEnd | null

  constructor(end: EvaluationEnd | null) {
    super('The evaluation was interrupted.')
    this.end = end
  }
}

const runEvaluation = async (
  evaluation: StoredEvaluation,
  holder: string,
  ending: AbortSignal,
  parts: EvaluationRunnerParts,
): Promise<void> => {
  const { store, clock, ids } = parts
  const { id, spec } = evaluation
  const over = new AbortController()
  const { signal } = over
  const giveUp = (): void => over.abort()
  ending.addEventListener('abort', giveUp, { once: true })
  if (ending.aborted) giveUp()
  // Until this hold expires no other process takes the evaluation, whether storage answers or not.
  let cancelGivingUp = clock.after(HELD_MS, giveUp)
  const stopHolding = repeat(
    clock,
    RENEW_MS,
    async () => {
      const cancelLater = clock.after(HELD_MS, giveUp)
      const isHeld = await store.hold(id, holder, isoTimestamp(clock.now() + HELD_MS)).catch((thrown: unknown) => {
        cancelLater()
        throw thrown
      })
      cancelGivingUp()
      cancelGivingUp = cancelLater
      if (!isHeld) giveUp()
    },
    (thrown) => parts.onError(thrown, 'the hold on an evaluation was not renewed'),
  )
  const end = (how: EvaluationEnd): Promise<boolean> =>
    store.end(evaluation, how, {
      by: { requestId: ids.prefixed('eval'), userId: null, keyHash: evaluation.keyHash },
      now: isoTimestamp(clock.now()),
    })
  try {
    const principal = await parts.keys.payer(evaluation.workspaceId, evaluation.keyHash)
    await parts.flush()
    const paid = await store.paid(`${id}/`)
    const waiting = (await store.items(id)).filter(({ result }) => result === null)
    const purse = createPurse(evaluation, paid, waiting)
    const running = { evaluation, principal, signal, purse, turn: parts.startTurn() }
    await inParallel(waiting, spec.concurrency, (item) => doItem(item, running, parts))
    const results = (await store.items(id)).flatMap(({ result }) => result ?? [])
    const { passed } = summaryOf(results, spec.checks).version
    await end({ state: 'done', passed: passed >= spec.minPassRate * results.length, reason: null })
  } catch (thrown) {
    if (thrown instanceof Interrupted) {
      if (thrown.end !== null) await end(thrown.end)
    } else if (thrown instanceof GatewayError) await end({ state: 'stopped', passed: null, reason: thrown.message })
    else throw thrown
  } finally {
    stopHolding()
    cancelGivingUp()
    ending.removeEventListener('abort', giveUp)
    // If this fails, the hold expires by itself.
    await store.release(id, holder).catch((thrown: unknown) => parts.onError(thrown, 'an evaluation is held for some seconds more'))
  }
}

interface Running {
  readonly evaluation: StoredEvaluation
  readonly principal: Principal
  readonly signal: AbortSignal
  readonly purse: Purse
  readonly turn: Turn
}

const doItem = async (
  { position, item, answers: before }: StoredItem,
  { evaluation, principal, signal, purse, turn }: Running,
  { store, readItem, makeRequest, boundOf, clock }: EvaluationRunnerParts,
): Promise<void> => {
  const { id, slug, spec } = evaluation
  let answers = before
  const keep = async (name: string, answer: KeptAnswer): Promise<KeptAnswer> => {
    answers = { ...answers, [name]: answer }
    // The answer was paid for, so storing it is repeated. If a write succeeded but its success was not reported, its cost counts twice; the
    // budget still holds.
    for (;;) {
      try {
        await store.keepAnswers(id, position, answers, answer.costNanos)
        return answer
      } catch (thrown) {
        if (!isStorageAway(thrown) || signal.aborted) throw thrown
        await waited(clock, KEEP_AGAIN_MS, signal)
      }
    }
  }
  const ask = async (name: string, request: OwnBody): Promise<KeptAnswer> => {
    const known = answers[name]
    if (known !== undefined) return known
    await turn()
    if (signal.aborted) throw new Interrupted(null)
    const requestId = `${id}/${position}/${name}`
    const paid = purse.answered.get(requestId)
    if (paid !== undefined) return keep(name, { ...LOST, costNanos: paid })
    const release = purse.isBounded ? purse.hold(await boundOf(principal, request)) : () => undefined
    const makeOnce = (): Promise<OwnAnswer> =>
      makeRequest({ ...request, principal, origin: 'evaluation', requestId, withinMs: REQUEST_MS, signal })
    let answer = await makeOnce()
    // Other running requests fill the budget for now. Some of them may belong to this evaluation.
    for (let seconds = secondsToWait(answer); seconds !== null && !signal.aborted; seconds = secondsToWait(answer)) {
      await waited(clock, seconds * 1000, signal)
      if (!signal.aborted) answer = await makeOnce()
    }
    // An item that was cut short is asked again when the evaluation continues.
    if (signal.aborted) throw new Interrupted(null)
    release(answer.costNanos)
    // No provider was asked; the item is asked once storage is available again.
    if (answer.costNanos === 0 && isStorageAway(answer.error?.cause)) throw new Interrupted(null)
    if (isUnpaid(answer.error)) throw new Interrupted({ state: 'stopped', passed: null, reason: answer.error.message })
    if (answer.cutByBudget) throw new Interrupted({ state: 'stopped', passed: null, reason: CUT_BY_BUDGET })
    return keep(name, keptOf(answer))
  }
  const wanted = await found(() => readItem(evaluation.workspaceId, item))
  await turn()
  await store.finishItem(id, position, 'error' in wanted ? lostItem(wanted.error, spec) : await runItem(slug, wanted, spec, ask))
}

/** Also resolves when the signal aborts, so the caller must check the signal. */
const waited = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  pauseUnlessAborted(clock, ms, signal).catch((reason: unknown) => {
    if (!signal.aborted) throw reason
  })

/** Null if the request was made, or if waiting does not help. */
const secondsToWait = ({ error, generationId }: OwnAnswer): number | null =>
  generationId === null && isBudgetRefusal(error) ? (error.retryAfterSeconds ?? null) : null

const CUT_BY_BUDGET = 'The budgets of the key that pays did not bear the tools of a request, so its answer was made without them.'

/** A recorded request that is gone fails its own item and no other. */
const found = async (read: () => Promise<ItemRequest>): Promise<ItemRequest | { readonly error: { type: string; message: string } }> => {
  try {
    return await read()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.type !== 'not_found') throw thrown
    return { error: { type: thrown.type, message: thrown.publicMessage } }
  }
}

const LOST: KeptAnswer = {
  generationId: null,
  error: { type: 'interrupted', message: 'The service ended between the answer and its keeping. It was paid for, and is not asked again.' },
  text: '',
  calls: [],
  costNanos: 0,
  ttftMs: null,
  totalMs: 0,
}

const keptOf = ({ generationId, error, text, calls, costNanos, ttftMs, totalMs }: OwnAnswer): KeptAnswer => ({
  generationId,
  error: error === null ? null : { type: error.type, message: error.publicMessage },
  text,
  calls,
  costNanos,
  ttftMs,
  totalMs,
})

interface Purse {
  readonly isBounded: boolean
  /** The cost of requests that were answered but whose answers were not stored, by request id. */
  readonly answered: ReadonlyMap<string, number>
  /** Sets aside the maximum cost of a request and returns a function that takes the real cost. Throws if the budget cannot hold it. */
  hold(boundUsd: number | null): (costNanos: number) => void
}

const createPurse = (evaluation: StoredEvaluation, { answered, cutShortNanos }: PaidRequests, waiting: readonly StoredItem[]): Purse => {
  const { budgetNanos } = evaluation.spec
  let spent = evaluation.costNanos + cutShortNanos + lostNanos(evaluation, answered, waiting)
  let held = 0
  return {
    isBounded: budgetNanos !== null,
    answered,
    hold(boundUsd) {
      const budget = budgetNanos ?? Number.POSITIVE_INFINITY
      const bound = boundUsd === null ? Number.POSITIVE_INFINITY : nanosOf(boundUsd)
      if (spent + held + bound > budget) {
        const why = boundUsd === null ? 'whose price is not known' : `which may cost $${boundUsd}`
        const reason = `The budget of $${dollars(budget)} does not bear the next request, ${why}: $${dollars(spent)} are spent and $${dollars(held)} held.`
        throw new Interrupted({ state: 'stopped', passed: null, reason })
      }
      held += bound
      return (cost) => {
        held -= bound
        spent += cost
      }
    },
  }
}

/** The cost of answers that were paid for and never stored, which is not yet in that of the evaluation. */
const lostNanos = ({ id }: StoredEvaluation, answered: PaidRequests['answered'], waiting: readonly StoredItem[]): number => {
  const stored = new Map(waiting.map(({ position, answers }) => [`${id}/${position}`, answers]))
  let lost = 0
  for (const [requestId, costNanos] of answered) {
    const at = requestId.lastIndexOf('/')
    const answers = stored.get(requestId.slice(0, at))
    if (answers !== undefined && !Object.hasOwn(answers, requestId.slice(at + 1))) lost += costNanos
  }
  return lost
}

/** The first failure stops the work, after the items already begun have ended. */
const inParallel = async <Item>(items: readonly Item[], most: number, work: (item: Item) => Promise<void>): Promise<void> => {
  let next = 0
  let failure: { readonly thrown: unknown } | null = null
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === null) {
      const item = items[next]
      next += 1
      if (item === undefined) return
      try {
        await work(item)
      } catch (thrown) {
        failure ??= { thrown }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  const failed = failure as { readonly thrown: unknown } | null
  if (failed === null) return
  throw failed.thrown instanceof Interrupted || isStorageAway(failed.thrown) ? failed.thrown : asFailure(failed.thrown)
}

/** Not a reason to end an evaluation: it continues once storage is available again. */
const isStorageAway = (thrown: unknown): boolean => thrown instanceof StorageUnavailable || thrown instanceof StorageConflict
