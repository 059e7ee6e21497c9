/** How much a model shall think, in this dialect's two words for it: an effort, and how readable a summary is wanted. */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ModelFamily } from './model-family.ts'

/**
 * The members of `reasoning`; none where the request says nothing that the dialect has a word for.
 *
 * A budget in tokens becomes an effort: below 4096 `low`, below 16384 `medium`, else `high`; an effort beside it wins.
 * No thinking becomes the least effort of the model, thinking of no
 * said amount becomes `medium` where it would stay off. A summary is asked for where the request names one, or where it
 * turns readable thinking on (`enabled`, a budget) without excluding it; a bare effort asks for none, because some
 * organisations may not have summaries.
 */
export const encodeReasoning = (
  { value, field }: { readonly value: ReasoningSetting; readonly field: string },
  family: ModelFamily,
  warn: (warning: Warning) => void,
): JsonObject => {
  const mapped = (message: string): void => warn({ code: 'mapped_field', field, message })
  if (thinksNot(value)) {
    if (family.reasons === false) return {}
    if (family.leastEffort !== 'none')
      mapped(`This model cannot be kept from thinking; it was asked for its least effort, ${family.leastEffort}.`)
    return { effort: family.leastEffort }
  }
  if (family.reasons === false) {
    warn({ code: 'unsupported_field', field, message: `This model does not think; ${field} was left out.` })
    return {}
  }
  const { effort, maxTokens, exclude = false, enabled = false } = value
  const members: Record<string, string> = {}
  if (effort !== undefined) members['effort'] = effort
  else if (maxTokens !== undefined) {
    members['effort'] = effortOfBudget(maxTokens)
    mapped(`A budget of ${maxTokens} tokens became the effort ${members['effort']}: this provider counts none.`)
  } else if (enabled && family.reasons === true && family.leastEffort === 'none') {
    // Models that can go without thinking do, unless an effort is named.
    members['effort'] = 'medium'
  }
  if (!exclude && (value.summary !== undefined || enabled || maxTokens !== undefined)) members['summary'] = value.summary ?? 'auto'
  return members
}

/** The request wants no thinking at all. */
export const thinksNot = ({ enabled, effort, maxTokens }: ReasoningSetting): boolean =>
  enabled === false || effort === 'none' || (effort === undefined && maxTokens === 0)

const effortOfBudget = (tokens: number): string => (tokens < 4096 ? 'low' : tokens < 16_384 ? 'medium' : 'high')
