/** Refuses an evaluation that would fail whatever is answered, before it costs anything (docs/contract/presets.md#evaluations). */
import type { Check, EvaluationBody, EvaluationItem } from '../../contract/evaluation.ts'
import { invalidField } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import type { OwnBody } from '../own-request.ts'
import { isRecorded } from './item-request.ts'
import { comparingOf, scoringOf } from './judge-answer.ts'

/** Throws `invalid_request`, which names the check and the items that cannot pass it. */
export const requirePassable = (items: readonly EvaluationItem[], { checks, min_pass_rate: least }: EvaluationBody): void => {
  const failing = items.flatMap((item, position) => {
    const at = checks.findIndex((check) => failsAlways(check, item))
    return at < 0 ? [] : [{ position, at }]
  })
  const [first] = failing
  if (first === undefined || items.length - failing.length >= least * items.length) return
  const { type } = checks[first.at] ?? {}
  throw invalidField(
    `checks[${first.at}]`,
    `${type} compares with what an item expects, and ${failing.length} of ${items.length} items expect ${type === 'contains' ? 'no text' : 'nothing'} (the first is item ${first.position}). Give them "expected", or use another check or a lower min_pass_rate.`,
  )
}

/** Throws `invalid_request` for a judge that no request would reach; the answers to judge would be paid for. `ask` is a dry run. */
export const requireJudges = async (checks: readonly Check[], ask: (request: OwnBody) => Promise<unknown>): Promise<void> => {
  for (const [at, check] of checks.entries()) {
    if (check.type !== 'judge' && check.type !== 'pairwise') continue
    try {
      await ask(check.type === 'judge' ? scoringOf(check, NOTHING, '') : comparingOf(check, NOTHING, '', ''))
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.type === 'not_found') throw invalidField(`checks[${at}].model`, thrown.message)
      // Any other refusal, such as a spent budget, may be over when the judge is asked.
      if (!(thrown instanceof GatewayError)) throw thrown
    }
  }
}

const NOTHING = { conversation: [], expected: null } as const

const failsAlways = (check: Check, item: EvaluationItem): boolean => {
  if (check.type === 'exact') return isRecorded(item) ? !item.expectsAnswer : item.expected === null
  if (check.type !== 'contains' || check.text !== undefined) return false
  return isRecorded(item) ? !item.expectsAnswer : typeof item.expected !== 'string'
}
