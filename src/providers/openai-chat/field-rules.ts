/**
 * Adapts the fields of a Chat Completions request to one vendor and model: a field is renamed, mapped, limited, or left out with a warning.
 * A client's own request and a translated one go through the same rules.
 */
import type { ReasoningSetting } from '../../canonical/settings.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import type { EditableFields } from '../vendors/editable-fields.ts'
import {
  clampOutput,
  keepAccepted,
  nameOrdinaryTier,
  refuseAnswered,
  type RuleContext,
  shortenIdentifiers,
} from '../vendors/field-rules.ts'
import { acceptsChatField } from '../vendors/chat-fields.ts'
import { type OpenAiModel, openAiModelOf } from '../vendors/openai-model.ts'
import { wordsFor } from '../vendors/reasoning-words.ts'
import type { OutputLimit, ReasoningWords, Vendor } from '../vendors/vendor.ts'
import { type FunctionPlace, mendedTools, takesAnySchema } from '../tools/openai-tool-schema.ts'
import { offerFunctions } from './custom-tools.ts'
import { budgetBeside, thinksNot } from '../thinking/effort.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import { unwrapPlace } from './encode-search.ts'
import { NO_SCHEMA } from './encode-tools.ts'
import { narrowChoice } from './narrowed-choice.ts'

export function* applyFieldRules(fields: EditableFields, vendor: Vendor, context: RuleContext): Steps<void> {
  const model = vendor.openAiModels ? openAiModelOf(context.target) : null
  refuseAnswered(fields, vendor, context)
  askForUsage(fields, vendor, context)
  narrowChoice(fields, vendor)
  yield* offerFunctions(fields, vendor, context)
  yield* mendSchemas(fields, vendor, context)
  changeReasoning(fields, vendor, model, context)
  calmBesideTools(fields, model, context)
  const accepts = acceptance(fields, vendor, context)
  limitOutput(fields, vendor, accepts, context)
  nameUser(fields, accepts, context)
  sayStops(fields, vendor)
  storeNothing(fields, vendor, context)
  keepAccepted(fields, 'chat', accepts, context)
  shortenIdentifiers(fields, vendor.identifierMax)
  if (vendor.accepts !== 'everything') nameOrdinaryTier(fields, vendor.ordinaryTier)
  limitStop(fields, vendor, context)
  askForChances(fields, vendor, context)
  chooseTools(fields, vendor, context)
  changeFormat(fields, vendor, context)
  unwrapPlace(fields, vendor)
  for (const [from, to] of Object.entries(vendor.names)) {
    if (fields.value(from) === undefined) continue
    // A field that already has the vendor's name takes precedence.
    if (fields.value(to) === undefined) fields.rename(from, to)
    else fields.remove(from)
  }
}

/**
 * Usage is always returned (docs/contract/chat-completions.md#answer), so every stream is asked for it; with a whole answer vendors refuse
 * the field.
 */
const askForUsage = (fields: EditableFields, { streamOptions }: Vendor, { call }: RuleContext): void => {
  if (!streamOptions || !call.stream) fields.remove('stream_options')
  else {
    const options = fields.value('stream_options')
    fields.put('stream_options', { ...(isObject(options) ? options : {}), include_usage: true })
  }
}

function* mendSchemas(fields: EditableFields, vendor: Vendor, context: RuleContext): Steps<void> {
  const tools = takesAnySchema(vendor) ? undefined : fields.value('tools')
  if (!Array.isArray(tools)) return
  const mended = yield* mendedTools(tools, fields.reported('tools'), FUNCTION_OF_TOOL, { ...context, vendor })
  if (mended !== tools) fields.put('tools', mended)
}

const FUNCTION_OF_TOOL: FunctionPlace = {
  functionIn: ({ function: called }) => (called !== undefined && isObject(called) ? called : null),
  withFunction: (tool, called) => ({ ...tool, function: called }),
}

const acceptance = (fields: EditableFields, vendor: Vendor, { target }: RuleContext): ((field: string) => boolean) => {
  const effort = effortOf(fields)
  return (field) => acceptsChatField(target, field, effort) && (field !== 'structured_outputs' || hasOwnForm(fields.value(field), vendor))
}

const hasOwnForm = (structuredOutputs: JsonValue | undefined, vendor: Vendor): boolean =>
  vendor.accepts === 'everything' || isObject(structuredOutputs) === (vendor.structuredOutputs === 'object')

const effortOf = (fields: EditableFields): string | null => {
  const effort = fields.value('reasoning_effort')
  return typeof effort === 'string' ? effort : null
}

/** Later models think unasked, and refuse tools while they think: in this dialect they are asked not to think. */
const calmBesideTools = (fields: EditableFields, model: OpenAiModel | null, { target, warn }: RuleContext): void => {
  if (model?.chatToolsRefused !== 'unless-none' || model.efforts?.includes('none') !== true) return
  if (effortOf(fields) !== null || !hasTools(fields)) return
  const field = fields.reported('reasoning_effort')
  fields.put('reasoning_effort', 'none')
  const message = `${target.upstreamModel} takes tools in Chat Completions only where it does not think; it was asked not to.`
  warn({ code: 'mapped_field', field, message })
}

const hasTools = (fields: EditableFields): boolean => {
  const tools = fields.value('tools')
  return Array.isArray(tools) && tools.length > 0
}

const LIMITS: readonly OutputLimit[] = ['max_completion_tokens', 'max_tokens']

/** Only one limit is sent, the one by which the request was judged, under a name that the model accepts. */
const limitOutput = (fields: EditableFields, vendor: Vendor, accepts: (field: string) => boolean, context: RuleContext): void => {
  const names = vendor.openAiModels
    ? vendor.outputLimits.filter((name) => name === 'max_completion_tokens' || accepts(name))
    : vendor.outputLimits
  const given = LIMITS.filter((name) => fields.value(name) !== undefined)
  // A null means nothing, and is refused under an unknown name.
  for (const name of LIMITS) if (!given.includes(name) && !names.includes(name)) fields.remove(name)
  const [newest] = given
  if (newest === undefined) return
  // A translated request has a single limit, which is already within what the model gives.
  const asked = (context.call.dialect === 'chat' ? context.call.maxOutputTokens : null) ?? fields.value(newest)
  const source = given.find((name) => fields.value(name) === asked) ?? newest
  if (asked !== undefined && fields.value(source) !== asked) fields.put(source, asked)
  for (const name of given) {
    if (name === source) continue
    if (fields.value(name) !== asked) {
      const reported = fields.reported(name)
      context.warn({
        code: 'unsupported_field',
        field: reported,
        message: `${fields.reported(source)} is the limit; ${reported} was left out.`,
      })
    }
    fields.remove(name)
  }
  const [preferred] = names
  const name = names.includes(source) || preferred === undefined ? source : preferred
  if (name !== source) fields.rename(source, name)
  clampOutput(fields, name, context)
}

/** Both fields name the end user; most vendors know only one of them. */
const nameUser = (fields: EditableFields, accepts: (field: string) => boolean, { warn }: RuleContext): void => {
  for (const [from, to] of USER_NAMES) {
    if (fields.value(from) === undefined || accepts(from) || !accepts(to)) continue
    if (fields.value(to) === undefined) fields.rename(from, to)
    else if (fields.value(to) === fields.value(from)) fields.remove(from)
    else {
      fields.remove(from)
      const reported = fields.reported(from)
      warn({
        code: 'unsupported_field',
        field: reported,
        message: `This provider takes one name of the end user, and got ${fields.reported(to)}; ${reported} was left out.`,
      })
    }
  }
}

const USER_NAMES = [
  ['safety_identifier', 'user'],
  ['user', 'safety_identifier'],
] as const

/** An empty sequence, or an empty list, means nothing and is refused. */
const sayStops = (fields: EditableFields, { accepts }: Vendor): void => {
  const stop = fields.value('stop')
  if (accepts === 'everything' || stop === undefined) return
  const said = Array.isArray(stop) ? stop.filter((sequence) => sequence !== '') : stop
  if (said === '' || (Array.isArray(said) && said.length === 0)) fields.remove('stop')
  else if (Array.isArray(said) && Array.isArray(stop) && said.length < stop.length) fields.put('stop', said)
}

/**
 * A stored completion would be kept in the operator's account, together with those of other customers. Vendors other than OpenAI store none
 * unasked, and some refuse even a `false`.
 */
const storeNothing = (fields: EditableFields, { accepts, openAiModels }: Vendor, { warn }: RuleContext): void => {
  const store = fields.value('store')
  if (accepts === 'everything' || store === undefined || (store === false && openAiModels)) return
  fields.remove('store')
  if (store !== true) return
  const field = fields.reported('store')
  warn({ code: 'unsupported_field', field, message: `Completions are not stored; ${field} was left out.` })
}

const limitStop = (fields: EditableFields, { stopMax }: Vendor, { target, warn }: RuleContext): void => {
  const stop = fields.value('stop')
  if (stopMax === null || !Array.isArray(stop) || stop.length <= stopMax) return
  fields.put('stop', stop.slice(0, stopMax))
  warn({
    code: 'unsupported_field',
    field: fields.reported('stop'),
    message: `${target.providerName} takes at most ${stopMax} stop sequences; the others were left out.`,
  })
}

/** Vendors refuse a request for the log probabilities of other tokens without one for those of the chosen tokens. */
const askForChances = (fields: EditableFields, { accepts }: Vendor, { warn }: RuleContext): void => {
  if (accepts === 'everything' || (fields.value('top_logprobs') ?? null) === null) return
  if (fields.value('logprobs') !== false) {
    if (fields.value('logprobs') !== true) fields.put('logprobs', true)
    return
  }
  fields.remove('top_logprobs')
  const field = fields.reported('top_logprobs')
  warn({ code: 'unsupported_field', field, message: `logprobs is false, so that ${field} asks for nothing; it was left out.` })
}

const chooseTools = (fields: EditableFields, vendor: Vendor, { target, warn }: RuleContext): void => {
  const choice = fields.value('tool_choice')
  if (vendor.accepts !== 'everything' && !hasTools(fields)) {
    // Without tools these fields mean nothing and are refused; so is an empty list of tools.
    fields.remove('tools')
    fields.remove('parallel_tool_calls')
    if (choice === 'auto' || choice === 'none') fields.remove('tool_choice')
  }
  if (choice === 'required' && vendor.neverRequired?.test(target.upstreamModel) === true) {
    fields.remove('tool_choice')
    const message = 'This provider cannot be made to call a tool; the choice is the model’s.'
    warn({ code: 'unsupported_field', field: fields.reported('tool_choice'), message })
    return
  }
  if (vendor.unforcedThinkers?.test(target.upstreamModel) !== true || (choice !== 'required' && !isObject(choice))) return
  const thinking = fields.value('thinking')
  if (isObject(thinking) && thinking['type'] === 'disabled') return
  const words = vendor.reasoning === 'object' ? null : wordsFor(target.upstreamModel, vendor.reasoning)
  if (thinking === undefined && effortOf(fields) === null && words?.toggle === 'thinking') {
    fields.put('thinking', { type: 'disabled' })
    const message = `${target.upstreamModel} cannot be made to call a tool while it thinks; it was asked not to think.`
    warn({ code: 'mapped_field', field: fields.reported('tool_choice'), message })
  } else {
    fields.remove('tool_choice')
    const message = `${target.upstreamModel} cannot be made to call a tool while it thinks; the choice is the model’s.`
    warn({ code: 'unsupported_field', field: fields.reported('tool_choice'), message })
  }
}

const changeFormat = (fields: EditableFields, { jsonSchema }: Vendor, { warn }: RuleContext): void => {
  if (jsonSchema) return
  const format = fields.value('response_format')
  if (!isObject(format) || format['type'] !== 'json_schema') return
  fields.put('response_format', { type: 'json_object' })
  warn({ code: 'unsupported_field', field: fields.reported('response_format'), message: NO_SCHEMA })
}

/**
 * `reasoning` and `include_reasoning` are fields of routers. For other vendors they become the vendor's own fields; a value in the vendor's
 * own field takes precedence, if the model knows it.
 */
const changeReasoning = (fields: EditableFields, vendor: Vendor, model: OpenAiModel | null, { target, warn }: RuleContext): void => {
  if (vendor.reasoning === 'object') {
    dropBudget(fields, warn)
    return
  }
  const known = wordsFor(target.upstreamModel, vendor.reasoning)
  const words: ReasoningWords = { ...known, efforts: model?.efforts ?? known.efforts }
  const effort = fields.value('reasoning_effort')
  const strange = typeof effort === 'string' && words.efforts !== 'any' && !words.efforts.includes(effort)
  const names = strange ? [...ROUTERS_FIELDS, 'reasoning_effort'] : ROUTERS_FIELDS
  const field = names.find((name) => fields.has(name))
  if (field === undefined) return
  const asked = fields.value('reasoning')
  // A field that is already in the vendor's form stays; a null means nothing.
  if (words.toggle === 'reasoning' && isObject(asked) && Object.keys(asked).every((member) => member === 'enabled')) return
  const setting = settingOf(isObject(asked) ? asked : {}, effort, fields.value('include_reasoning'))
  for (const name of names) fields.remove(name)
  const reported = fields.reported(field)
  if (model?.reasons === false) {
    fields.remove('reasoning_effort')
    const asks = Object.keys(setting).some((member) => member !== 'exclude') && !thinksNot(setting)
    if (asks)
      warn({ code: 'unsupported_field', field: reported, message: `${target.upstreamModel} does not think; ${reported} was left out.` })
    return
  }
  for (const [name, value] of Object.entries(encodeReasoning(setting, reported, { words, showsThinking: vendor.showsThinking }, warn)))
    if (fields.value(name) === undefined) fields.put(name, value)
}

const ROUTERS_FIELDS: readonly string[] = ['reasoning', 'include_reasoning']

/** Routers refuse a budget together with an effort. */
const dropBudget = (fields: EditableFields, warn: RuleContext['warn']): void => {
  const asked = fields.value('reasoning')
  if (!isObject(asked)) return
  const { max_tokens: _, ...others } = asked
  const message = budgetBeside(settingOf(asked, undefined, undefined))
  if (message === null) return
  fields.put('reasoning', others)
  warn({ code: 'mapped_field', field: fields.reported('reasoning'), message })
}

const settingOf = (
  { enabled, effort, max_tokens: maxTokens, summary, exclude }: Readonly<Record<string, unknown>>,
  ownEffort: JsonValue | undefined,
  shown: JsonValue | undefined,
): ReasoningSetting => {
  const wanted = ownEffort ?? effort
  return {
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(typeof wanted === 'string' ? { effort: wanted } : {}),
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof summary === 'string' ? { summary } : {}),
    ...(exclude === true || (exclude !== false && shown === false) ? { exclude: true } : {}),
  }
}
