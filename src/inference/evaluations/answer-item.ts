/** Answers one item of an evaluation. Each answer is stored as soon as it arrives, and a request that was paid for is never made again. */
import { GatewayError } from '../../errors.ts'
import type { Principal } from '../../keys/principal.ts'
import { isBudgetRefusal, isUnpaid } from '../../ledger/refusal.ts'
import { type Clock, pauseUnlessAborted } from '../../lib/clock.ts'
import type { Turn } from '../../lib/steps.ts'
import type { KeptAnswer, StoredItem } from '../../storage/presets/evaluation-items.ts'
import type { EvaluationStore, StoredEvaluation } from '../../storage/presets/evaluation-store.ts'
import type { MakeRequest, OwnAnswer, OwnBody } from '../own-request.ts'
import type { EvaluationBudget } from './evaluation-budget.ts'
import { Interrupted, isStorageAway } from './interrupted.ts'
import type { ItemRequest, ReadItem } from './item-request.ts'
import { lostItem, runItem } from './run-item.ts'

export interface ItemParts {
  readonly store: Pick<EvaluationStore, 'keepAnswers' | 'finishItem'>
  readonly readItem: ReadItem
  readonly makeRequest: MakeRequest
  /** The maximum cost of a request in dollars; null if it is not known. */
  readonly boundOf: (principal: Principal, request: OwnBody) => Promise<number | null>
  readonly clock: Clock
}

const REQUEST_MS = 10 * 60_000
/** The pause between attempts to store an answer while storage is unavailable. */
const KEEP_AGAIN_MS = 500

export interface RunningEvaluation {
  readonly evaluation: StoredEvaluation
  readonly principal: Principal
  readonly signal: AbortSignal
  readonly budget: EvaluationBudget
  readonly turn: Turn
}

export const answerItem = async (
  { position, item, answers: before }: StoredItem,
  { evaluation, principal, signal, budget, turn }: RunningEvaluation,
  { store, readItem, makeRequest, boundOf, clock }: ItemParts,
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
    const paid = budget.answered.get(requestId)
    if (paid !== undefined) return keep(name, { ...LOST, costNanos: paid })
    const release = budget.isBounded ? budget.hold(await boundOf(principal, request)) : () => undefined
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
