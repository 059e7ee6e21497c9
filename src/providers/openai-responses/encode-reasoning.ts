/** Encodes how much a model should think, by the two members of this dialect: the effort, and the kind of summary. */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { budgetBeside, effortOfBudget, nearestEffort, thinksNot } from '../thinking/effort.ts'
import type { OpenAiModel } from '../vendors/openai-model.ts'

/**
 * Returns the members of `reasoning`; none if the request asks for nothing that the model can express. An effort takes precedence over a
 * budget. A summary is asked for if the request names one, or if it turns on readable thinking (`enabled`, a budget) without excluding it;
 * a bare effort asks for none, because some organisations may not have summaries.
 */
export const encodeReasoning = (
  { value, field }: { readonly value: ReasoningSetting; readonly field: string },
  family: OpenAiModel,
  warn: (warning: Warning) => void,
): JsonObject => {
  const { summary, maxTokens, enabled = false, exclude = false } = value
  if (family.reasons === false) {
    if (!thinksNot(value)) warn({ code: 'unsupported_field', field, message: `This model does not think; ${field} was left out.` })
    return {}
  }
  const wanted = effortWanted(value, family)
  const effort = wanted === undefined ? undefined : effortKnown(wanted, family)
  const budget = thinksNot(value) ? null : budgetBeside(value)
  if (budget !== null) warn({ code: 'mapped_field', field, message: budget })
  if (wanted !== undefined && effort === undefined)
    warn({ code: 'unsupported_field', field, message: 'This model takes no effort of thinking; the setting was left out.' })
  else if (maxTokens !== undefined && value.effort === undefined && !thinksNot(value))
    warn({
      code: 'mapped_field',
      field,
      message: `A budget of ${maxTokens} tokens became the effort ${effort}: this provider counts none.`,
    })
  else if (effort !== wanted)
    warn({ code: 'mapped_field', field, message: `The effort ${wanted} became ${effort}, the nearest that this model knows.` })
  const isReadable = !exclude && !thinksNot(value) && (summary !== undefined || enabled || maxTokens !== undefined)
  return { ...(effort === undefined ? {} : { effort }), ...(isReadable ? { summary: summary ?? 'auto' } : {}) }
}

const effortWanted = (value: ReasoningSetting, family: OpenAiModel): string | undefined => {
  if (thinksNot(value)) return 'none'
  if (value.effort !== undefined) return value.effort
  if (value.maxTokens !== undefined) return effortOfBudget(value.maxTokens)
  // Models that can do without thinking do not think unless an effort is named.
  return value.enabled === true && family.efforts?.includes('none') === true ? 'medium' : undefined
}

/** Undefined if the model takes none. */
const effortKnown = (wanted: string, { efforts }: OpenAiModel): string | undefined => {
  if (efforts === null) return wanted
  return efforts.length === 0 ? undefined : (nearestEffort(wanted, efforts) ?? wanted)
}
