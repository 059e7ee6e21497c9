/**
 * Adapts the fields of a Responses request to one vendor and model: a field is renamed, mapped, limited, or left out with a warning. A
 * client's own request and a translated one go through the same rules.
 */
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { ReasoningSetting } from '../../canonical/settings.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { LOGPROBS_INCLUDED } from '../../request-fields/schemas/output.ts'
import type { EditableFields } from '../vendors/editable-fields.ts'
import {
  clampOutput,
  keepAccepted,
  limitMetadata,
  nameOrdinaryTier,
  nameServiceTier,
  refuseAnswered,
  type RuleContext,
  shortenIdentifiers,
} from '../vendors/field-rules.ts'
import { type FunctionPlace, mendedTools, takesAnySchema } from '../tools/openai-tool-schema.ts'
import { acceptsField, type OpenAiModel } from '../vendors/openai-model.ts'
import { responsesModel } from '../vendors/reasoning-words.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { vendorOf } from '../vendors/vendors.ts'
import { encodeReasoning } from './encode-reasoning.ts'

export function* applyFieldRules(fields: EditableFields, context: RuleContext): Steps<void> {
  const vendor = vendorOf(context.target.provider)
  const model = responsesModel(context.target)
  refuseAnswered(fields, vendor, context)
  changeReasoning(fields, model, context)
  clampOutput(fields, 'max_output_tokens', context)
  const accepted = vendor.accepts === 'everything' ? undefined : vendor.accepts.responses
  if (accepted === undefined) return
  if (vendor.openAiModels) {
    changeVerbosity(fields, model, context)
    dropRefusedTools(fields, model, context)
    thinkForTools(fields, context)
  }
  if (!takesAnySchema(vendor)) yield* mendSchemas(fields, vendor, context)
  raiseOutput(fields, context)
  const effort = effortOf(fields)
  const accepts = (field: string): boolean =>
    accepted.has(field) || (vendor.openAiModels && OF_MODELS.has(field) && acceptsField(model, field, effort))
  keepAccepted(fields, 'responses', accepts, context)
  includeKnown(fields, model, accepts, context)
  shortenIdentifiers(fields, vendor.identifierMax)
  nameOrdinaryTier(fields, vendor.ordinaryTier)
  nameServiceTier(fields, context)
  limitMetadata(fields, context)
}

/** Fields of the dialect that only some of OpenAI's models accept. */
const OF_MODELS: ReadonlySet<string> = new Set(['temperature', 'top_p', 'top_logprobs', 'prompt_cache_options'])

const effortOf = (fields: EditableFields): string | null => {
  const reasoning = fields.value('reasoning')
  const effort = isObject(reasoning) ? reasoning['effort'] : null
  return typeof effort === 'string' ? effort : null
}

/** The members that this service adds to the `reasoning` of the dialect (docs/contract/responses.md#request). */
const OUR_MEMBERS = ['enabled', 'max_tokens', 'exclude'] as const

const changeReasoning = (fields: EditableFields, model: OpenAiModel, { warn }: RuleContext): void => {
  const given = fields.value('reasoning')
  if (!isObject(given) || isUnderstood(given, model)) return
  const { enabled, max_tokens: maxTokens, exclude, effort, summary, ...others } = given
  const setting: ReasoningSetting = {
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof exclude === 'boolean' ? { exclude } : {}),
    ...(typeof effort === 'string' ? { effort } : {}),
    ...(typeof summary === 'string' ? { summary } : {}),
  }
  const members = { ...others, ...encodeReasoning({ value: setting, field: fields.reported('reasoning') }, model, warn) }
  if (Object.keys(members).length === 0) fields.remove('reasoning')
  else fields.put('reasoning', members)
}

/** Says whether the setting is in the dialect's own form and the model knows all of it. */
const isUnderstood = (reasoning: Readonly<Record<string, unknown>>, { reasons, efforts }: OpenAiModel): boolean => {
  const { effort } = reasoning
  if (OUR_MEMBERS.some((member) => Object.hasOwn(reasoning, member))) return false
  return reasons !== false && (typeof effort !== 'string' || efforts === null || efforts.includes(effort))
}

/** The API refuses a whole request for a built-in tool that the model does not have, or for the choice of one. */
const dropRefusedTools = (fields: EditableFields, { refusedTools }: OpenAiModel, { target, warn }: RuleContext): void => {
  const tools = fields.value('tools')
  const choice = fields.value('tool_choice')
  if (!Array.isArray(tools)) return
  const refusedType = (tool: JsonValue): string | null => {
    const type = isObject(tool) ? tool['type'] : null
    return typeof type === 'string' && refusedTools.test(type) ? type : null
  }
  const kept = tools.filter((tool: JsonValue, index) => {
    const type = refusedType(tool)
    if (type === null) return true
    const message = `${target.upstreamModel} has no tool like ${type}; it was left out.`
    warn({ code: 'unsupported_field', field: `${fields.reported('tools')}[${index}]`, message })
    return false
  })
  if (kept.length === tools.length) return
  if (kept.length === 0) fields.remove('tools')
  else fields.put('tools', kept)
  if (choice !== undefined && (kept.length === 0 || refusedType(choice) !== null)) fields.remove('tool_choice')
}

/** "The following tools cannot be used with reasoning.effort 'minimal': image_gen, web_search." */
const TOOLS_OF_THINKERS = /^(?:web_search|image_generation)/

const thinkForTools = (fields: EditableFields, { warn }: RuleContext): void => {
  const reasoning = fields.value('reasoning')
  const tools = fields.value('tools')
  if (!isObject(reasoning) || reasoning['effort'] !== 'minimal' || !Array.isArray(tools)) return
  const tool = tools
    .map((one) => (isObject(one) ? one['type'] : null))
    .find((type) => typeof type === 'string' && TOOLS_OF_THINKERS.test(type))
  if (typeof tool !== 'string') return
  fields.put('reasoning', { ...reasoning, effort: 'low' })
  warn({
    code: 'mapped_field',
    field: fields.reported('reasoning'),
    message: `minimal became low, the least effort that goes with ${tool}.`,
  })
}

const VERBOSITIES: Readonly<Record<string, string>> = { xhigh: 'high', max: 'high' }

const changeVerbosity = (fields: EditableFields, model: OpenAiModel, { target, warn }: RuleContext): void => {
  const text = fields.value('text')
  const asked = isObject(text) ? text['verbosity'] : undefined
  if (!isObject(text) || typeof asked !== 'string') return
  const field = fields.reported('text.verbosity')
  if (!model.accepts.has('verbosity')) {
    const { verbosity: _, ...others } = text
    if (Object.keys(others).length === 0) fields.remove('text')
    else fields.put('text', others)
    if (asked !== 'medium')
      warn({ code: 'unsupported_field', field, message: `${target.upstreamModel} cannot be told how much to say; ${field} was left out.` })
    return
  }
  const known = VERBOSITIES[asked]
  if (known === undefined) return
  fields.put('text', { ...text, verbosity: known })
  warn({ code: 'mapped_field', field, message: `${asked} became ${known}, the most that this provider knows.` })
}

function* mendSchemas(fields: EditableFields, vendor: Vendor, context: RuleContext): Steps<void> {
  const tools = fields.value('tools')
  if (!Array.isArray(tools)) return
  const mended = yield* mendedTools(tools, fields.reported('tools'), FUNCTION_TOOL, { ...context, vendor })
  if (mended !== tools) fields.put('tools', mended)
}

const FUNCTION_TOOL: FunctionPlace = {
  functionIn: (tool) => (tool['type'] === 'function' ? tool : null),
  withFunction: (_, called) => called,
}

/** The API refuses a lower cap. */
const OUTPUT_TOKENS_MIN = 16

const raiseOutput = (fields: EditableFields, context: RuleContext): void => {
  const name = 'max_output_tokens'
  const tokens = fields.value(name)
  if (typeof tokens !== 'number' || tokens >= OUTPUT_TOKENS_MIN) return
  fields.put(name, OUTPUT_TOKENS_MIN)
  context.warn({
    code: 'mapped_field',
    field: fields.reported(name),
    message: `${tokens} became ${OUTPUT_TOKENS_MIN}, the least that this provider accepts.`,
  })
}

/** The provider refuses to include something that the model does not have: thinking, or log probabilities. */
const includeKnown = (
  fields: EditableFields,
  { reasons }: OpenAiModel,
  accepts: (field: string) => boolean,
  { target, warn }: RuleContext,
): void => {
  const given = fields.value('include')
  if (!Array.isArray(given)) return
  const field = fields.reported('include')
  // If they were asked for only by `top_logprobs`, the loss was reported already.
  if (given.includes(LOGPROBS_INCLUDED) && !accepts('top_logprobs') && field !== fields.reported('top_logprobs'))
    warn({
      code: 'unsupported_field',
      field,
      message: `${target.upstreamModel} does not report log probabilities; they were not asked for.`,
    })
  const kept = given.filter(
    (value: JsonValue) =>
      // These values are for the service's own tools.
      !(typeof value === 'string' && serverToolName(value) !== null) &&
      !(value === 'reasoning.encrypted_content' && reasons === false) &&
      !(value === LOGPROBS_INCLUDED && !accepts('top_logprobs')),
  )
  if (kept.length === given.length) return
  if (kept.length === 0) fields.remove('include')
  else fields.put('include', kept)
}
