/**
 * Runs evaluations in the background, in whichever process takes them: one process at a time holds an evaluation and keeps renewing the
 * hold; if that process is gone, another one continues after a few seconds. An answer is stored as soon as it arrives, and a request that
 * was paid for is never made again (decisions/0066).
 */
import { GatewayError } from '../../errors.ts'
import type { Keys } from '../../keys/keys.ts'
import { isoTimestamp } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import { repeat } from '../../lib/repeat.ts'
import type { Turn } from '../../lib/steps.ts'
import type { EvaluationEnd, EvaluationStore, StoredEvaluation } from '../../storage/presets/evaluation-store.ts'
import { asFailure } from '../as-failure.ts'
import { answerItem, type ItemParts } from './answer-item.ts'
import { openEvaluationBudget } from './evaluation-budget.ts'
import { Interrupted, isStorageAway } from './interrupted.ts'
import { summaryOf } from './summary.ts'

export interface EvaluationRunnerParts extends ItemParts {
  readonly store: Pick<EvaluationStore, 'take' | 'hold' | 'paid' | 'items' | 'keepAnswers' | 'finishItem' | 'end' | 'release'>
  readonly keys: Pick<Keys, 'payer'>
  /**
   * Yields between items: if nothing is waited for, for example because each item is refused at once, thousands of items would otherwise be
   * one step.
   */
  readonly startTurn: () => Turn
  /** Resolves when the records of all answers are written. */
  readonly flush: () => Promise<void>
  readonly ids: IdSource
  readonly onError: (thrown: unknown, doing: string) => void
}

const POLL_MS = 500
const HELD_MS = 10_000
const RENEW_MS = 3000
/** The maximum number of evaluations that run at once in this process. */
const RUNNING_MAX = 2

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
  const stopRenewing = renewHold(id, holder, giveUp, parts)
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
    const budget = openEvaluationBudget(evaluation, paid, waiting)
    const running = { evaluation, principal, signal, budget, turn: parts.startTurn() }
    await inParallel(waiting, spec.concurrency, (item) => answerItem(item, running, parts))
    const results = (await store.items(id)).flatMap(({ result }) => result ?? [])
    const { passed } = summaryOf(results, spec.checks).version
    await end({ state: 'done', passed: passed >= spec.minPassRate * results.length, reason: null })
  } catch (thrown) {
    if (thrown instanceof Interrupted) {
      if (thrown.end !== null) await end(thrown.end)
    } else if (thrown instanceof GatewayError) await end({ state: 'stopped', passed: null, reason: thrown.message })
    else throw thrown
  } finally {
    stopRenewing()
    ending.removeEventListener('abort', giveUp)
    // If this fails, the hold expires by itself.
    await store.release(id, holder).catch((thrown: unknown) => parts.onError(thrown, 'an evaluation is held for some seconds more'))
  }
}

/** Renews the hold until the function that it returns is called. Calls `giveUp` if the hold is lost or may have expired. */
const renewHold = (
  id: string,
  holder: string,
  giveUp: () => void,
  { store, clock, onError }: Pick<EvaluationRunnerParts, 'store' | 'clock' | 'onError'>,
): (() => void) => {
  // Until this hold expires no other process takes the evaluation, whether storage answers or not.
  let cancelGivingUp = clock.after(HELD_MS, giveUp)
  const stop = repeat(
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
    (thrown) => onError(thrown, 'the hold on an evaluation was not renewed'),
  )
  return () => {
    stop()
    cancelGivingUp()
  }
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
