/** Refuses an evaluation that would fail whatever is answered, before it costs anything (docs/contract/presets.md#evaluations). */
import type { Check, EvaluationBody, EvaluationItem } from '../../contract/evaluation.ts'
import { invalidField } from '../../contract/validate.ts'
import { isRecorded } from './item-request.ts'

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

const failsAlways = (check: Check, item: EvaluationItem): boolean => {
  if (check.type === 'exact') return isRecorded(item) ? !item.expectsAnswer : item.expected === null
  if (check.type !== 'contains' || check.text !== undefined) return false
  return isRecorded(item) ? !item.expectsAnswer : typeof item.expected !== 'string'
}
