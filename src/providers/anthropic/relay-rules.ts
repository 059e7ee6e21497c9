/**
 * Applies the rules of the models for a client that speaks Messages itself: what the model would refuse becomes what a translated request
 * would get, and everything else stays as the client wrote it. For a model that is not a Claude, hardly anything is changed.
 */
import type { ReasoningSetting, SettingName, SettingValues } from '../../canonical/settings.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, SCHEMA_UNITS, type Steps } from '../../lib/steps.ts'
import type { EditableFields } from '../vendors/editable-fields.ts'
import { nearestEffort } from '../thinking/effort.ts'
import { refuseEmptyLimit } from '../losses/losses.ts'
import { clampOutput, keepAccepted } from '../vendors/field-rules.ts'
import type { Attempt } from '../provider.ts'
import { isPrefilled } from '../roles/turns.ts'
import { vendorOf } from '../vendors/vendors.ts'
import type { ModelContext } from './encode-context.ts'
import { BLOCK_FORM } from './encode-parts.ts'
import { isUnthoughtLoop, type Turn } from './encode-conversation.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeSampling, seenStops } from './encode-settings.ts'
import { type Around, BUDGET_MIN, encodeReasoning, unthought } from './encode-reasoning.ts'
import { inputSchema } from './encode-tools.ts'
import { createGrammarBudget, type GrammarBudget } from './grammar-budget.ts'
import { keepEdits, keepLawful } from './lawful-fields.ts'
import { isImitation, type ModelRules, rulesAt } from './model-rules.ts'

/** `turns`: the conversation as it is sent. Returns what the system prompt has to say in addition. Throws `invalid_request`. */
export function* applyModelRules(fields: EditableFields, attempt: Attempt, turns: readonly Turn[]): Steps<string | undefined> {
  if (fields.value('max_tokens') === 0 && isImitation(attempt.target)) refuseEmptyLimit('max_tokens', attempt.target.providerName)
  clampOutput(fields, 'max_tokens', attempt)
  keepAcceptedFields(fields, attempt)
  const context = relayContext(fields, attempt)
  if (!context.rules.claude) {
    const thinking = fields.value('thinking')
    if (isImitation(attempt.target) || !isObject(thinking) || thinking['type'] !== 'enabled' || !isUnthoughtLoop(turns)) return undefined
    fields.remove('thinking')
    context.lose('thinking', `${unthought(context.target)} It was left out.`)
    return undefined
  }
  keepLawful(fields, context)
  const grammar = createGrammarBudget()
  // Before the tools, which get what is left of the grammar.
  const words = changeFormat(fields, context, grammar)
  yield* changeTools(fields, context, grammar)
  const forced = chooseTools(fields, context)
  if (isObject(fields.value('thinking')))
    changeThinking(fields, context, { forced, unthoughtLoop: isUnthoughtLoop(turns), prefilled: isPrefilled(turns, BLOCK_FORM.isPaused) })
  changeEffort(fields, context)
  changeSampling(fields, context)
  const stop = context.setting('stop')
  const kept = seenStops(context)
  if (stop !== undefined && kept?.length !== stop.length) {
    if (kept === undefined) fields.remove('stop_sequences')
    else fields.put('stop_sequences', [...kept])
  }
  keepEdits(fields, context)
  return words
}

/** Used for translated requests too. */
export const keepAcceptedFields = (fields: EditableFields, attempt: Attempt): void => {
  const { accepts } = vendorOf(attempt.target.provider)
  const accepted = accepts === 'everything' ? undefined : accepts.messages
  if (accepted !== undefined) keepAccepted(fields, 'messages', (field) => accepted.has(field), attempt)
}

const relayContext = (fields: EditableFields, { target, warn }: Attempt): ModelContext => ({
  target,
  rules: rulesAt(target),
  setting: (name) => settingIn(fields, name),
  fieldOf: (name) => FIELDS[name] ?? name,
  lose: (field, message) => warn({ code: 'unsupported_field', field, message }),
  mapped: (field, message) => warn({ code: 'mapped_field', field, message }),
})

/** The fields in which this dialect has the settings that the rules ask for. */
const FIELDS: Readonly<Partial<Record<SettingName, string>>> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  maxOutputTokens: 'max_tokens',
  stop: 'stop_sequences',
  reasoning: 'thinking',
}

/** The values were validated with the request. */
const settingIn = <Name extends SettingName>(fields: EditableFields, name: Name): SettingValues[Name] | undefined => {
  if (name === 'reasoning') return reasoningIn(fields) as SettingValues[Name] | undefined
  const field = FIELDS[name]
  return field === undefined ? undefined : (fields.value(field) as SettingValues[Name] | undefined)
}

const reasoningIn = (fields: EditableFields): ReasoningSetting | undefined => {
  const thinking = fields.value('thinking')
  if (!isObject(thinking)) return undefined
  const { type, budget_tokens: budget, display } = thinking
  const effort = effortIn(fields)
  return {
    enabled: type !== 'disabled',
    ...(type === 'enabled' && typeof budget === 'number' ? { maxTokens: budget } : {}),
    ...(effort === undefined ? {} : { effort }),
    ...(display === 'omitted' ? { exclude: true } : {}),
  }
}

const effortIn = (fields: EditableFields): string | undefined => {
  const output = fields.value('output_config')
  const effort = isObject(output) ? output['effort'] : undefined
  return typeof effort === 'string' ? effort : undefined
}

/** Returns whether a call of a tool is demanded of a model that can be made to call one. */
const chooseTools = (fields: EditableFields, { rules, target, mapped }: ModelContext): boolean => {
  const choice = fields.value('tool_choice')
  if (!isObject(choice) || (choice['type'] !== 'any' && choice['type'] !== 'tool')) return false
  if (rules.forcedTools !== 'never') return true
  mapped('tool_choice', `${target.upstreamModel} cannot be made to call a tool; it was left to choose.`)
  const single = choice['disable_parallel_tool_use']
  fields.put('tool_choice', { type: 'auto', ...(typeof single === 'boolean' ? { disable_parallel_tool_use: single } : {}) })
  return false
}

const changeThinking = (fields: EditableFields, context: ModelContext, around: Around): void => {
  const thinking = fields.value('thinking')
  if (!isObject(thinking) || isUnderstood(thinking, fields.value('max_tokens'), context.rules, around)) return
  if (thinking['type'] === 'between_tools')
    context.mapped('thinking.type', `${context.target.upstreamModel} cannot think only between the calls of tools.`)
  const encoded = encodeReasoning(context, around)
  if (encoded.thinking === undefined) fields.remove('thinking')
  else fields.put('thinking', encoded.thinking as JsonValue)
  // A model that thinks between calls all the same has the effort that was named, within the bounds of `changeEffort`.
  if (encoded.thinking?.['type'] !== 'between_tools') putOutput(fields, { effort: encoded.effort })
}

const changeEffort = (fields: EditableFields, { rules, target, lose, mapped }: ModelContext): void => {
  const effort = effortIn(fields)
  if (effort === undefined) return
  const known = knownEfforts(fields, rules)
  if (known.includes(effort)) return
  const nearest = nearestEffort(effort, known) ?? undefined
  putOutput(fields, { effort: nearest })
  if (nearest === undefined) lose('output_config.effort', `${target.upstreamModel} knows no efforts; it was left out.`)
  else if (rules.efforts.includes(effort))
    mapped('output_config.effort', `${target.upstreamModel} takes no effort ${effort} where it is kept from thinking; ${nearest} was sent.`)
  else mapped('output_config.effort', `${target.upstreamModel} has no effort ${effort}; ${nearest} was sent.`)
}

/** "output_config.effort 'xhigh' is not supported when thinking is disabled on this model": clients keep it for a search without thinking. */
const knownEfforts = (fields: EditableFields, { efforts, unthoughtEffort }: ModelRules): readonly string[] => {
  const thinking = fields.value('thinking')
  const type = isObject(thinking) ? thinking['type'] : undefined
  if (unthoughtEffort === null || (type !== 'disabled' && type !== 'between_tools')) return efforts
  return efforts.slice(0, efforts.indexOf(unthoughtEffort) + 1)
}

/** Says whether the model takes the `thinking` field as it is. A type that this release does not know is passed on. */
const isUnderstood = (
  { type, budget_tokens: budget, display }: Readonly<Record<string, unknown>>,
  maxTokens: unknown,
  rules: ModelRules,
  { forced, unthoughtLoop, prefilled }: Around,
): boolean => {
  if (display !== undefined && display !== null && rules.display === 'unknown') return false
  switch (type) {
    case 'disabled':
      return rules.thinkingOff === 'disabled' || (rules.thinkingOff === 'silence' && rules.thinking !== 'none')
    case 'between_tools':
      return rules.thinkingOff === 'between_tools'
    case 'adaptive':
      return (
        (rules.thinking === 'either' || rules.thinking === 'adaptive') &&
        !prefilled &&
        !(forced && rules.forcedTools === 'without-thinking')
      )
    case 'enabled':
      return (
        (rules.thinking === 'either' || rules.thinking === 'budget') &&
        !(forced && rules.forcedTools !== 'always') &&
        typeof budget === 'number' &&
        budget >= BUDGET_MIN &&
        !(typeof maxTokens === 'number' && budget >= maxTokens) &&
        !prefilled &&
        !unthoughtLoop
      )
    default:
      return true
  }
}

/** Changes members of `output_config`; the others stay as they are. */
const putOutput = (fields: EditableFields, members: Readonly<Record<string, JsonValue | undefined>>): void => {
  const output = fields.value('output_config')
  const next = { ...(isObject(output) ? output : {}) }
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) delete next[name]
    else next[name] = value
  }
  if (Object.keys(next).length === 0) fields.remove('output_config')
  else if (JSON.stringify(next) !== JSON.stringify(output)) fields.put('output_config', next)
}

/** Returns the instructions for a format that cannot be enforced. */
const changeFormat = (fields: EditableFields, context: ModelContext, grammar: GrammarBudget): string | undefined => {
  const output = fields.value('output_config')
  const format = isObject(output) ? output['format'] : undefined
  if (!isObject(format) || format['type'] !== 'json_schema') return undefined
  const outputFormat = { type: 'json-schema', name: 'response', schema: format['schema'] } as const
  const reported = { ...context, dialect: 'messages', grammar, prompt: { outputFormat } } as const
  const { schema, words } = encodeFormat(reported, context.rules.structuredOutputs)
  if (schema === undefined) putOutput(fields, { format: undefined })
  else if (!isSame(schema, format['schema'])) putOutput(fields, { format: { ...format, schema: schema as JsonValue } })
  return words
}

function* changeTools(fields: EditableFields, context: ModelContext, grammar: GrammarBudget): Steps<void> {
  const tools = fields.value('tools')
  if (!Array.isArray(tools)) return
  const next = yield* mapInSteps(
    tools as readonly JsonValue[],
    (tool, index) => {
      const given = isObject(tool) ? tool['input_schema'] : undefined
      if (!isObject(tool) || !isObject(given)) return tool
      const { strict: isAsked, ...rest } = tool
      const { schema, strict } = inputSchema(given, isAsked === true, `tools[${index}]`, { ...context, grammar })
      if ((isAsked === true) === strict && (schema === given || isSame(schema, given))) return tool
      return { ...rest, input_schema: schema as JsonValue, ...(strict ? { strict } : {}) }
    },
    () => SCHEMA_UNITS,
  )
  if (next.some((tool, index) => tool !== tools[index])) fields.put('tools', next)
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const changeSampling = (fields: EditableFields, context: ModelContext): void => {
  const thinking = fields.value('thinking')
  const thinks = isObject(thinking) && (thinking['type'] === 'enabled' || thinking['type'] === 'adaptive')
  const sent = encodeSampling(context, thinks)
  for (const name of ['temperature', 'top_p', 'top_k'] as const) {
    const given = fields.value(name)
    const put = sent[name]
    // A default may stay in the request.
    if (given === undefined || given === put || (put === undefined && given === 1 && name !== 'top_k')) continue
    if (put === undefined) fields.remove(name)
    else fields.put(name, put)
  }
}
