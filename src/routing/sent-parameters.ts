/** Which of the parameters that a catalogue knows a request makes use of, in whatever dialect it is (contract 5.1, `require_parameters`). */
import type { Call } from '../canonical/call.ts'
import { isObject } from '../lib/json.ts'

/** The names under which a model may say that it heeds the parameter; any of them will do. */
export type SentParameter = readonly string[]

/** Of any provider: whether `supported` has it. */
export const heeds = (supported: readonly string[], parameter: SentParameter): boolean => parameter.some((name) => supported.includes(name))

const SAMPLING = [
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
  'parallel_tool_calls',
  'web_search_options',
] as const

const LENGTH: SentParameter = ['max_tokens', 'max_completion_tokens']
const REASONING: SentParameter = ['reasoning', 'reasoning_effort', 'include_reasoning']

/** By the field of a request. */
const PARAMETERS: readonly (readonly [string, SentParameter])[] = [
  ...SAMPLING.map((name) => [name, [name]] as const),
  ['max_tokens', LENGTH],
  ['max_completion_tokens', LENGTH],
  ['max_output_tokens', LENGTH],
  ['stop', ['stop']],
  ['stop_sequences', ['stop']],
  ['reasoning', REASONING],
  ['reasoning_effort', REASONING],
  ['include_reasoning', REASONING],
  ['thinking', REASONING],
  ['structured_outputs', ['structured_outputs']],
]

export const sentParameters = (call: Call): SentParameter[] => {
  const { body } = call
  const sent = PARAMETERS.filter(([field]) => body.has(field) && body.raw(field) !== 'null').map(([, parameter]) => parameter)
  if (hasTools(call) && body.has('tool_choice')) sent.push(['tool_choice'])
  return [...sent, ...preferredParameters(call)]
}

/** Those without which an answer is of little use: whoever heeds them is preferred, asked or not (contract 5.2). */
export const preferredParameters = (call: Call): SentParameter[] => {
  const sent: SentParameter[] = []
  if (hasTools(call)) sent.push(['tools'])
  const format = formatType(call)
  if (format === 'json_schema') sent.push(['structured_outputs', 'response_format'])
  else if (format !== null) sent.push(['response_format'])
  if (hasVerbosity(call)) sent.push(['verbosity'])
  return sent
}

/** The conversation may be megabytes, and so may be the tools: their text is looked at and not parsed. */
const hasTools = ({ body }: Call): boolean => {
  const tools = body.raw('tools')
  return tools !== undefined && tools.startsWith('[') && !/^\[\s*\]$/.test(tools)
}

/** Null for plain text. */
const formatType = ({ body }: Call): string | null => {
  const [chat, responses, messages] = [body.value('response_format'), body.value('text'), body.value('output_config')]
  const format = chat ?? (isObject(responses) ? responses['format'] : undefined) ?? (isObject(messages) ? messages['format'] : undefined)
  const type = isObject(format) ? format['type'] : undefined
  return typeof type === 'string' && type !== 'text' ? type : null
}

const hasVerbosity = ({ body }: Call): boolean => {
  const text = body.value('text')
  return body.value('verbosity') !== undefined || (isObject(text) && (text['verbosity'] ?? null) !== null)
}
