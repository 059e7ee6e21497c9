/**
 * A chat client's own JSON for a chat upstream: byte for byte but for the model, what addresses this service, and what
 * the vendor is known to refuse or to call by another name.
 */
import { withoutServiceFields } from '../../request-fields/service-fields.ts'
import type { ReasoningSetting } from '../../canonical/settings.ts'
import { isObject, type JsonValue } from '../../lib/json.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import type { JsonChanges } from '../../lib/json-splice.ts'
import type { Attempt } from '../provider.ts'
import type { Vendor } from '../vendor.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import { NO_SCHEMA } from './encode-tools.ts'
import { relayedMessages } from './relay-messages.ts'

type Changes = Record<string, string | null>

/** What is changed in the client's body. */
export const relayChanges = (attempt: Attempt, vendor: Vendor): JsonChanges => {
  const { call, target } = attempt
  const { body } = call
  const changes: Changes = {
    ...withoutServiceFields,
    // Of tools that this service runs: no provider is to count them.
    max_tool_calls: null,
    model: JSON.stringify(target.upstreamModel),
  }
  changeStream(call.stream, body, vendor, changes)
  changeReasoning(attempt, vendor, changes)
  leaveOut(attempt, vendor, changes)
  rename(body, vendor, changes)
  changeFormat(attempt, vendor, changes)
  const messages = relayedMessages(body, target, vendor, attempt.warn)
  if (messages !== null) changes['messages'] = messages
  return changes
}

/** Usage always comes back (contract 3.1), so it is always asked for. */
const changeStream = (stream: boolean, body: JsonBody, vendor: Vendor, changes: Changes): void => {
  if (!vendor.streamOptions) changes['stream_options'] = null
  else if (stream) {
    const options = body.value('stream_options')
    changes['stream_options'] = JSON.stringify({ ...(isObject(options) ? options : {}), include_usage: true })
  }
}

/**
 * `reasoning` and `include_reasoning` are words of routers. Where the vendor is none, they become its own; what the client
 * says in the vendor's own words wins.
 */
const changeReasoning = ({ call: { body }, warn }: Attempt, vendor: Vendor, changes: Changes): void => {
  if (vendor.reasoning === 'object') return
  const ownEffort =
    vendor.reasoning.efforts !== 'any' && vendor.reasoning.efforts.length === 0 && body.value('reasoning_effort') !== undefined
  const field = body.has('reasoning')
    ? 'reasoning'
    : body.has('include_reasoning')
      ? 'include_reasoning'
      : ownEffort
        ? 'reasoning_effort'
        : null
  if (field === null) return
  const asked = body.value('reasoning')
  const effort = body.value('reasoning_effort')
  // What is said in the vendor's words stands; a null says nothing.
  if (vendor.reasoning.toggle === 'reasoning' && isObject(asked) && Object.keys(asked).every((member) => member === 'enabled')) return
  for (const word of ['reasoning', 'include_reasoning', ...(ownEffort ? ['reasoning_effort'] : [])]) changes[word] = null
  const setting = settingOf(isObject(asked) ? asked : {}, effort, body.value('include_reasoning'))
  for (const [name, value] of Object.entries(encodeReasoning(setting, field, vendor, warn))) {
    if (body.value(name) === undefined || name === 'reasoning') changes[name] = JSON.stringify(value)
  }
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

const leaveOut = ({ call: { body }, target, warn }: Attempt, vendor: Vendor, changes: Changes): void => {
  if (vendor.unsupported.size === 0) return
  for (const field of body.keys) {
    if (!vendor.unsupported.has(field)) continue
    changes[field] = null
    if (saysNothing(field, body.value(field))) continue
    warn({ code: 'unsupported_field', field, message: `${target.providerName} does not take ${field}; it was left out.` })
  }
}

/** What a provider does without the field: nothing is lost with it. */
const saysNothing = (field: string, value: JsonValue | undefined): boolean =>
  value === undefined ||
  (field === 'n' && value === 1) ||
  (field === 'logprobs' && value === false) ||
  (field === 'service_tier' && value === 'auto') ||
  (field === 'modalities' && Array.isArray(value) && value.every((kind) => kind === 'text')) ||
  (field === 'tool_choice' && value === 'none')

/** A value goes on under the other name as it was written; one that already has the vendor's name wins. */
const rename = (body: JsonBody, { names }: Vendor, changes: Changes): void => {
  for (const [from, to] of Object.entries(names)) {
    const raw = body.raw(from)
    if (raw === undefined) continue
    changes[from] = null
    // Of the two limits of output the newer name wins, as with OpenAI.
    if (body.value(from) === undefined) continue
    if (body.value(to) === undefined || from === 'max_completion_tokens') changes[to] = raw
  }
}

const changeFormat = ({ call: { body }, warn }: Attempt, vendor: Vendor, changes: Changes): void => {
  if (vendor.jsonSchema) return
  const format = body.value('response_format')
  if (!isObject(format) || format['type'] !== 'json_schema') return
  changes['response_format'] = JSON.stringify({ type: 'json_object' })
  warn({ code: 'unsupported_field', field: 'response_format', message: NO_SCHEMA })
}
