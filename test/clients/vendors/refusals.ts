/**
 * Refusals of real vendors in their own words: the reason why clients that work with one vendor fail behind a gateway. Each rule describes
 * what it looks for; the first rule that matches gives the answer. Sources: the vendors' references and public bug reports.
 */
import { isObject } from '../../../src/lib/json/json.ts'
import { refusedByAnthropic } from '../../support/strict-anthropic.ts'
import { openaiRefusal } from './chat.ts'
import { type Body, listOf, type Refusal } from './conversation.ts'
import { anthropicRefusal } from './messages.ts'

export type Rule = (body: Body, headers: Headers) => Refusal | null

const isSet = (value: unknown): boolean => value !== undefined && value !== null

const unknownFields =
  (known: readonly string[], refuse: (field: string) => Refusal): Rule =>
  (body) => {
    const field = Object.keys(body).find((name) => !known.includes(name))
    return field === undefined ? null : refuse(field)
  }

/** In OpenAI's dialects a tool's name is in one of two places. */
const toolName = (tool: Body): unknown => (isObject(tool['function']) ? tool['function']['name'] : tool['name'])

const badToolName =
  (alphabet: RegExp, refuse: (name: string, index: number) => Refusal): Rule =>
  ({ tools }) => {
    const names = listOf(tools).map(toolName)
    const index = names.findIndex((name) => typeof name === 'string' && !alphabet.test(name))
    return index < 0 ? null : refuse(String(names[index]), index)
  }

const reasons = (model: unknown): boolean => /^(o\d|gpt-[5-9])/.test(String(model))

const forReasoners =
  (fields: readonly string[], refuse: (field: string, model: string) => Refusal): Rule =>
  (body) => {
    const field = reasons(body['model']) ? fields.find((name) => isSet(body[name]) && body[name] !== 1) : undefined
    return field === undefined ? null : refuse(field, String(body['model']))
  }

const unsupported = (field: string): Refusal =>
  openaiRefusal(400, `Unsupported parameter: '${field}' is not supported with this model.`, { param: field, code: 'unsupported_parameter' })

const OPENAI_CHAT = `audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata
  modalities model n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort
  response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p
  user verbosity web_search_options moderation prompt_cache_options`.split(/\s+/)

const OPENAI_RESPONSES = `background client_metadata context_management conversation include input instructions max_output_tokens
  max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning
  safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user
  moderation prompt_cache_options`.split(/\s+/)

const unknownParameter = (field: string): Refusal =>
  openaiRefusal(400, `Unknown parameter: '${field}'.`, { param: field, code: 'unknown_parameter' })

const longUser: Rule = ({ user }) =>
  typeof user === 'string' && user.length > 64
    ? openaiRefusal(
        400,
        `Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length ${user.length} instead.`,
        { param: 'user', code: 'string_above_max_length' },
      )
    : null

const openaiToolName = badToolName(/^[a-zA-Z0-9_-]{1,64}$/, (name, index) =>
  openaiRefusal(
    400,
    `Invalid 'tools[${index}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'. (${name})`,
    { code: 'invalid_value' },
  ),
)

export const OPENAI_CHAT_RULES: readonly Rule[] = [
  unknownFields(OPENAI_CHAT, unknownParameter),
  forReasoners(['max_tokens'], (field) =>
    openaiRefusal(400, `Unsupported parameter: '${field}' is not supported with this model. Use 'max_completion_tokens' instead.`, {
      param: field,
      code: 'unsupported_parameter',
    }),
  ),
  forReasoners(['temperature', 'top_p'], (field) =>
    openaiRefusal(
      400,
      `Unsupported value: '${field}' does not support this value with this model. Only the default (1) value is supported.`,
      { param: field, code: 'unsupported_value' },
    ),
  ),
  forReasoners(['stop', 'logprobs', 'presence_penalty', 'frequency_penalty', 'logit_bias'], unsupported),
  longUser,
  openaiToolName,
]

export const OPENAI_RESPONSES_RULES: readonly Rule[] = [
  unknownFields(OPENAI_RESPONSES, unknownParameter),
  forReasoners(['temperature', 'top_p'], unsupported),
  longUser,
  openaiToolName,
  ({ input, store }) => {
    const reference = listOf(input).find(({ type }) => type === 'item_reference')
    return reference === undefined
      ? null
      : openaiRefusal(
          404,
          `Item with id '${String(reference['id'])}' not found.${store === false ? ' Items are not persisted when `store` is set to false.' : ''}`,
          { param: 'input' },
        )
  },
  ({ previous_response_id: id }) =>
    isSet(id) ? openaiRefusal(400, `Previous response with id '${String(id)}' not found.`, { code: 'previous_response_not_found' }) : null,
]

const DEEPSEEK_ROLES = ['system', 'user', 'assistant', 'tool', 'latest_reminder']

export const DEEPSEEK_RULES: readonly Rule[] = [
  ({ messages }) => {
    const index = listOf(messages).findIndex(({ role }) => !DEEPSEEK_ROLES.includes(String(role)))
    if (index < 0) return null
    const role = String(listOf(messages)[index]?.['role'])
    const wanted = DEEPSEEK_ROLES.map((one) => `\`${one}\``).join(', ')
    return openaiRefusal(
      400,
      `Failed to deserialize the JSON body into the target type: messages[${index}].role: unknown variant \`${role}\`, expected one of ${wanted}`,
    )
  },
  ({ response_format: format }) =>
    isObject(format) && format['type'] === 'json_schema' ? openaiRefusal(400, 'This response_format type is unavailable now') : null,
  badToolName(/^[a-zA-Z0-9_-]{1,64}$/, (name) => openaiRefusal(400, `Invalid 'tools[].function.name': ${name}`)),
]

export const ANTHROPIC_RULES: readonly Rule[] = [
  ({ max_tokens: most, model }) =>
    Number(most) > 128_000 || (/haiku-4-5|sonnet-4-5|opus-4-5/.test(String(model)) && Number(most) > 64_000)
      ? anthropicRefusal(
          400,
          `max_tokens: ${String(most)} > ${Number(most) > 128_000 ? 128_000 : 64_000}, which is the maximum allowed number of output tokens for ${String(model)}`,
        )
      : null,
  (body) => {
    const refusal = refusedByAnthropic(body)
    return refusal === null ? null : anthropicRefusal(400, refusal)
  },
  (body, headers) => {
    const field = ['temperature', 'top_p', 'top_k'].find((name) => body[name] !== undefined)
    if (field === undefined || headers.get('anthropic-version') === '2023-06-01') return null
    return anthropicRefusal(400, `${field}: Extra inputs are not permitted`)
  },
]
