/** The budget of one evaluation: each request is set aside at its highest cost before it is made. */
import { dollars, nanosOf } from '../../lib/money.ts'
import type { StoredItem } from '../../storage/presets/evaluation-items.ts'
import type { PaidRequests, StoredEvaluation } from '../../storage/presets/evaluation-store.ts'
import { Interrupted } from './interrupted.ts'

export interface EvaluationBudget {
  readonly isBounded: boolean
  /** The cost of requests that were answered but whose answers were not stored, by request id. */
  readonly answered: ReadonlyMap<string, number>
  /** Sets aside the maximum cost of a request and returns a function that takes the real cost. Throws if the budget cannot hold it. */
  hold(boundUsd: number | null): (costNanos: number) => void
}

export const openEvaluationBudget = (
  evaluation: StoredEvaluation,
  { answered, cutShortNanos }: PaidRequests,
  waiting: readonly StoredItem[],
): EvaluationBudget => {
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
