/** Finds which of the parameters that a catalogue knows a request uses, in any dialect (docs/contract/routing.md#preferences). */
import type { Call } from '../canonical/call.ts'
import { isObject, listOf, type JsonValue } from '../lib/json/json.ts'
import { mayName } from '../lib/text/may-name.ts'
import { fieldOf } from '../request-fields/request-fields.ts'
import { pathsOf } from '../request-fields/setting-spellings.ts'
import { PARALLEL_PARAMETERS, REASONING_PARAMETERS } from '../request-fields/shared.ts'

/** The names under which a model may list the parameter as supported; any one of them is enough. */
export type SentParameter = readonly string[]

/** True if `supported` lists the parameter under any of its names. */
export const heeds = (supported: readonly string[], parameter: SentParameter): boolean => parameter.some((name) => supported.includes(name))

export const sentParameters = (call: Call): SentParameter[] => {
  const { body, dialect } = call
  const sent = body.keys.flatMap((field) => {
    const parameters = fieldOf(dialect, field)?.parameters
    return parameters !== undefined && body.raw(field) !== 'null' ? [parameters] : []
  })
  for (const field of Object.keys(call.carried?.written ?? {})) {
    const parameters = fieldOf(call.carried?.shape ?? dialect, field)?.parameters
    if (parameters !== undefined) sent.push(parameters)
  }
  if (hasTools(call) && body.has('tool_choice')) sent.push(['tool_choice'])
  if (dialect === 'messages' && valueOf(call, 'parallelToolCalls') === true) sent.push(PARALLEL_PARAMETERS)
  if (dialect === 'messages' && setsEffort(call)) sent.push(REASONING_PARAMETERS)
  return [...sent, ...preferredParameters(call)]
}

/**
 * An answer is of little use without these, so endpoints that support them are preferred even if the request does not ask for that
 * (docs/contract/routing.md#default-order).
 */
export const preferredParameters = (call: Call): SentParameter[] => {
  const sent: SentParameter[] = []
  if (hasTools(call)) sent.push(['tools'])
  const format = formatType(call)
  if (format === 'json_schema') sent.push(['structured_outputs', 'response_format'])
  else if (format !== null) sent.push(['response_format'])
  if (valueOf(call, 'verbosity') !== null || call.carried?.settings.verbosity !== undefined) sent.push(['verbosity'])
  return sent
}

/** Messages has the effort beside the format of the answer, and a message may change it (docs/contract/messages.md#effort-of-a-message). */
const setsEffort = ({ body }: Call): boolean =>
  isSet(body.value('output_config')) ||
  (mayName(CONFIG, body.rawSearchable('messages') ?? '') &&
    listOf(body.value('messages')).some((turn) => isObject(turn) && turn['role'] === 'system' && isSet(turn['output_config'])))

const CONFIG = /"output_config"/

const isSet = (config: unknown): boolean => isObject(config) && typeof config['effort'] === 'string'

/** The tools may be megabytes, so their text is inspected and not parsed. */
const hasTools = ({ body }: Call): boolean => {
  const tools = body.raw('tools')
  return tools !== undefined && tools.startsWith('[') && !/^\[\s*\]$/.test(tools)
}

/** Null for plain text. */
const formatType = (call: Call): string | null => {
  const format = valueOf(call, 'outputFormat')
  const type = isObject(format) ? format['type'] : undefined
  if (typeof type === 'string' && type !== 'text') return type
  return call.carried?.outputFormat?.type ?? null
}

const valueOf = ({ body, dialect }: Call, setting: 'outputFormat' | 'verbosity' | 'parallelToolCalls'): JsonValue => {
  const [path] = pathsOf(dialect, setting)
  if (path === undefined) return null
  const [field = '', member] = path.split('.')
  const value = body.value(field) ?? null
  if (member === undefined) return value
  return isObject(value) ? (value[member] ?? null) : null
}
