/**
 * The errors of Anthropic's API for the body of a Messages request, in its own words. Sources: its reference and guides (docs.claude.com:
 * Messages, tool use, extended thinking, prompt caching, structured outputs, migration guides), and errors that people report. It uses none
 * of our code, so that it can contradict it.
 */
import { isObject } from '../../src/lib/json/json.ts'
import { type Body, firstRefusal, list, objects } from './strict-body.ts'

/** The first error of the request; null if it is accepted. */
export const refusedByAnthropic = (body: Body): string | null => firstRefusal(RULES, body)

type Rule = (body: Body) => string | null

const isBlank = (text: unknown): boolean => typeof text === 'string' && text.trim() === ''

interface Version {
  readonly family: string
  readonly number: number
}

/** Returns null if the model is no Claude. */
const versionOf = (model: unknown): Version | null => {
  const [, family = '', major = '0', minor = '0'] = /claude-(opus|sonnet|haiku)-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(String(model)) ?? []
  return family === '' ? null : { family, number: Number(major) * 100 + Number(minor) }
}

const isSince = (model: unknown, number: number): boolean => (versionOf(model)?.number ?? 0) >= number

interface Block {
  readonly block: Body
  readonly at: string
}

interface Message {
  readonly role: string
  readonly blocks: readonly Block[]
  readonly at: string
}

const messagesOf = (body: Body): readonly Message[] =>
  objects(body['messages']).map(({ role, content }, index) => ({
    role: String(role),
    at: `messages.${index}`,
    blocks: (typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content)).map((block, place) => ({
      block,
      at: `messages.${index}.content.${place}`,
    })),
  }))

/** "Consecutive `user` or `assistant` turns in your request will be combined into a single turn." */
const turnsOf = (body: Body): readonly Message[] => {
  const turns: Message[] = []
  for (const message of messagesOf(body)) {
    const last = turns.at(-1)
    if (last?.role === message.role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...message.blocks] }
    else turns.push(message)
  }
  return turns
}

const isCall = ({ block }: Block): boolean => block['type'] === 'tool_use'
const isResult = ({ block }: Block): boolean => block['type'] === 'tool_result'
const isThinking = ({ block }: Block): boolean => block['type'] === 'thinking' || block['type'] === 'redacted_thinking'
const isServers = ({ block }: Block): boolean => /^server_tool_use$|._tool_result$/.test(String(block['type']))

const FIELDS = new Set(
  `cache_control container context_management fallbacks inference_geo max_tokens mcp_servers messages metadata model output_config
  output_format service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p safeguards diagnostics`.split(
    /\s+/,
  ),
)

const BLOCK_TYPES: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'document', 'tool_result', 'search_result', 'container_upload'],
  assistant: [
    'text',
    'thinking',
    'redacted_thinking',
    'tool_use',
    'server_tool_use',
    'web_search_tool_result',
    'code_execution_tool_result',
  ],
  system: ['text'],
}

const thinks = ({ thinking }: Body): boolean => isObject(thinking) && (thinking['type'] === 'enabled' || thinking['type'] === 'adaptive')

const fieldRules: readonly Rule[] = [
  (body) => {
    const unknown = Object.keys(body).find((name) => !FIELDS.has(name))
    return unknown === undefined ? null : `${unknown}: Extra inputs are not permitted`
  },
  (body) => {
    const none = Object.keys(body).find((name) => body[name] === null)
    return none === undefined ? null : `${none}: Input should be a valid value`
  },
  ({ max_tokens: most }) => (Number.isInteger(most) && Number(most) >= 1 ? null : 'max_tokens: Field required'),
  ({ metadata }) => {
    if (metadata === undefined) return null
    if (!isObject(metadata)) return 'metadata: Input should be a valid dictionary'
    const unknown = Object.keys(metadata).find((name) => name !== 'user_id')
    if (unknown !== undefined) return `metadata.${unknown}: Extra inputs are not permitted`
    const user = metadata['user_id']
    return typeof user === 'string' && user.length > 256 ? 'metadata.user_id: String should have at most 256 characters' : null
  },
  ({ stop_sequences: stop }) => (list(stop).some(isBlank) ? 'stop_sequences: each stop sequence must contain non-whitespace' : null),
  ({ container }) =>
    container === undefined || (isObject(container) && container['id'] === undefined) ? null : 'container: Container not found',
]

const thinkingRules: readonly Rule[] = [
  ({ thinking, model, max_tokens: most }) => {
    if (!isObject(thinking)) return null
    const { type, budget_tokens: budget } = thinking
    if (type === 'enabled') {
      if (isSince(model, 407))
        return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
      if (!isSince(model, 307)) return 'thinking: Extended thinking is not supported by this model.'
      if (typeof budget !== 'number' || budget < 1024)
        return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
      return budget >= Number(most)
        ? '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size'
        : null
    }
    return type === 'adaptive' && !isSince(model, 406) ? 'adaptive thinking is not supported on this model' : null
  },
  (body) => {
    const choice = body['tool_choice']
    const forced = isObject(choice) && (choice['type'] === 'any' || choice['type'] === 'tool')
    const thinking = body['thinking']
    // Recorded with claude-opus-4-6: adaptive thinking is accepted beside a demanded call.
    const budgeted = isObject(thinking) && thinking['type'] === 'enabled'
    return forced && budgeted ? 'Thinking may not be enabled when tool_choice forces tool use.' : null
  },
  (body) => {
    if (!thinks(body)) return null
    const { temperature, top_p: topP, top_k: topK } = body
    if (temperature !== undefined && temperature !== 1) return '`temperature` may only be set to 1 when thinking is enabled.'
    if (topK !== undefined) return '`top_k` must be unset when thinking is enabled.'
    return topP !== undefined && Number(topP) < 0.95
      ? '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.'
      : null
  },
  ({ temperature, top_p: topP, top_k: topK, model }) => {
    if (typeof temperature === 'number' && (temperature < 0 || temperature > 1)) return 'temperature: range: 0..1'
    if (isSince(model, 407)) {
      const refused = Object.entries({ temperature, top_p: topP, top_k: topK }).find(([, value]) => value !== undefined && value !== 1)
      return refused === undefined ? null : `\`${refused[0]}\` is deprecated for this model.`
    }
    return temperature !== undefined && topP !== undefined && isSince(model, 401) && temperature !== 1 && topP !== 1
      ? '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
      : null
  },
  ({ output_config: output, model }) =>
    isObject(output) && output['effort'] !== undefined && !isSince(model, 406) ? 'This model does not support the effort parameter.' : null,
  ({ output_config: output, thinking, model }) =>
    isObject(output) &&
    output['effort'] === 'max' &&
    isObject(thinking) &&
    thinking['type'] === 'disabled' &&
    /opus-5|haiku-5/.test(String(model))
      ? "output_config.effort 'max' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking."
      : null,
  (body) => {
    const { context_management: management } = body
    const edits = isObject(management) ? objects(management['edits']) : []
    // Since Claude 5 a model thinks by default.
    const unasked = isSince(body['model'], 500) && body['thinking'] === undefined
    const between = isObject(body['thinking']) && body['thinking']['type'] === 'between_tools'
    return edits.some(({ type }) => type === 'clear_thinking_20251015') && !thinks(body) && !unasked && !between
      ? 'context_management.edits.0: `clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive'
      : null
  },
]

const conversationRules: readonly Rule[] = [
  (body) => (list(body['messages']).length === 0 ? 'messages: at least one message is required' : null),
  (body) => {
    const turns = turnsOf(body)
    for (const [place, { role, at }] of turns.entries()) {
      if (role === 'user' || role === 'assistant') continue
      if (role !== 'system') return `${at}.role: Input should be 'user' or 'assistant'`
      const lawful = turns[place - 1]?.role === 'user' && turns[place + 1]?.role !== 'user'
      if (!isSince(body['model'], 505) && !(versionOf(body['model'])?.family === 'opus' && isSince(body['model'], 408)))
        return 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
      if (!lawful) return `${at}: a system message must follow a user message and precede an assistant message`
    }
    return null
  },
  (body) => (turnsOf(body)[0]?.role === 'user' ? null : 'messages: first message must use the "user" role'),
  (body) => {
    const empty = messagesOf(body).findIndex(
      ({ blocks }) => blocks.length === 0 || (blocks.length === 1 && blocks[0]?.block['text'] === ''),
    )
    return empty < 0 ? null : `messages.${empty}: all messages must have non-empty content except for the optional final assistant message`
  },
  (body) => {
    const inSystem = objects(body['system']).map((block) => ({ block, at: 'system' }))
    const all = [...inSystem, ...messagesOf(body).flatMap(({ blocks }) => blocks)]
    const inside = all.flatMap((one) => (isResult(one) ? objects(one.block['content']).map((block) => ({ block, at: one.at })) : [one]))
    if (inside.some(({ block }) => block['type'] === 'text' && block['text'] === ''))
      return 'messages: text content blocks must be non-empty'
    // Recorded: white space is accepted among the other blocks of an answer.
    const said = (one: Message): boolean => one.role === 'assistant' && one.blocks.some(({ block }) => !isBlank(block['text']))
    const accepted = new Set(
      messagesOf(body)
        .filter(said)
        .flatMap(({ blocks }) => blocks.map(({ at }) => at)),
    )
    return inside.some(({ block, at }) => block['type'] === 'text' && isBlank(block['text']) && !accepted.has(at))
      ? 'messages: text content blocks must contain non-whitespace text'
      : null
  },
  (body) => {
    for (const { role, blocks } of messagesOf(body))
      for (const { block, at } of blocks)
        if (BLOCK_TYPES[role]?.includes(String(block['type'])) === false)
          return `${at}: \`${String(block['type'])}\` blocks are not permitted in \`${role}\` messages`
    return null
  },
  (body) => {
    for (const { block, at } of messagesOf(body).flatMap(({ blocks }) => blocks)) {
      const { type, id, tool_use_id: answered, input } = block
      const named = type === 'tool_use' ? id : type === 'tool_result' ? answered : 'ok'
      if (!/^[a-zA-Z0-9_-]+$/.test(String(named))) return `${at}.${String(type)}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
      if (type === 'tool_use' && !isObject(input)) return `${at}.tool_use.input: Input should be a valid dictionary`
      if (type !== 'tool_result' || block['is_error'] !== true) continue
      const { content = '' } = block
      if (list(content).length === 0 && (typeof content !== 'string' || isBlank(content)))
        return `${at}.tool_result: content cannot be empty if \`is_error\` is true`
      if (list(content).some((one) => !isObject(one) || one['type'] !== 'text'))
        return `${at}.tool_result: all content must be type "text" if \`is_error\` is true`
    }
    return null
  },
  (body) => {
    const seen = new Set<unknown>()
    for (const { block, at } of messagesOf(body).flatMap(({ blocks }) => blocks.filter(isCall))) {
      if (seen.has(block['id'])) return `${at}: \`tool_use\` ids must be unique`
      seen.add(block['id'])
    }
    return null
  },
  (body) => {
    const turns = turnsOf(body).filter(({ role }) => role !== 'system')
    for (const [place, { role, blocks, at }] of turns.entries()) {
      const before = turns[place - 1]?.blocks.filter(isCall).map(({ block }) => block['id']) ?? []
      const results = blocks.filter(isResult)
      const answered = results.map(({ block }) => block['tool_use_id'])
      const foreign = results.find(({ block }) => role !== 'user' || !before.includes(block['tool_use_id']))
      if (foreign !== undefined)
        return `${foreign.at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(foreign.block['tool_use_id'])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
      if (new Set(answered).size < answered.length)
        return `${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${String(answered[0])}`
      const missing = blocks.filter(isCall).filter(({ block }) => {
        const behind = turns[place + 1]?.blocks ?? []
        const first = behind.slice(0, behind.findIndex((one) => !isResult(one)) >>> 0)
        return !first.some((one) => one.block['tool_use_id'] === block['id'])
      })
      if (missing.length > 0)
        return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.map(({ block }) => String(block['id'])).join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
    }
    return null
  },
  (body) => {
    const ending = turnsOf(body).find(({ role, blocks }) => {
      const last = blocks.at(-1)
      return role === 'assistant' && last !== undefined && isThinking(last)
    })
    return ending === undefined ? null : `${ending.at}: The final block in an assistant message cannot be \`thinking\`.`
  },
  (body) => {
    const last = turnsOf(body).at(-1)
    if (last?.role !== 'assistant' || last.blocks.some(isServers)) return null
    if (isSince(body['model'], 406))
      return 'This model does not support assistant message prefill. The conversation must end with a user message.'
    const text = last.blocks.at(-1)?.block['text']
    if (typeof text === 'string' && text !== text.trimEnd()) return 'messages: final assistant content cannot end with trailing whitespace'
    if (thinks(body))
      return `${last.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`text\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`
    return last.blocks.some(isThinking)
      ? `${last.at}.content.0: When thinking is disabled, an \`assistant\` message in the final position cannot contain \`thinking\`. To use thinking blocks, enable \`thinking\` in your request.`
      : null
  },
  (body) => {
    const { thinking } = body
    const turns = turnsOf(body).filter(({ role }) => role !== 'system')
    const calls = turns.at(-2)
    if (!isObject(thinking) || thinking['type'] !== 'enabled' || turns.at(-1)?.blocks.some(isResult) !== true || calls === undefined)
      return null
    const [first] = calls.blocks
    return first !== undefined && isThinking(first)
      ? null
      : `${calls.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first?.block['type'])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`
  },
  (body) => {
    const text = JSON.stringify(body['messages'])
    return text.includes('"type":"file"') || text.includes('container_upload') ? 'File not found in this workspace' : null
  },
]

const isClient = ({ type }: Body): boolean => (type ?? 'custom') === 'custom'

const toolRules: readonly Rule[] = [
  ({ tools, tool_choice: choice }) => {
    if (choice === undefined) return null
    if (list(tools).length === 0) return 'tool_choice: tool_choice may only be specified while providing tools.'
    const named = isObject(choice) && choice['type'] === 'tool' ? choice['name'] : undefined
    return named === undefined || objects(tools).some(({ name }) => name === named)
      ? null
      : `tool_choice: Tool '${JSON.stringify(named)}' not found in provided tools`
  },
  ({ tools }) => {
    const names = objects(tools).map(({ name }) => name)
    return new Set(names).size < names.length ? 'tools: Tool names must be unique.' : null
  },
  ({ tools }) => {
    for (const [place, tool] of objects(tools).entries()) {
      if (!isClient(tool)) continue
      const { name, input_schema: schema } = tool
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)))
        return `tools.${place}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`
      if (!isObject(schema)) return `tools.${place}.custom.input_schema: Field required`
      if (schema['type'] === undefined) return `tools.${place}.custom.input_schema.type: Field required`
      if (schema['type'] !== 'object') return `tools.${place}.custom.input_schema.type: Input should be 'object'`
      if (['oneOf', 'allOf', 'anyOf'].some((keyword) => schema[keyword] !== undefined))
        return `tools.${place}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
    }
    return null
  },
  ({ tools, output_config: output, model }) => {
    const strict = objects(tools).filter((tool) => isClient(tool) && tool['strict'] === true)
    const format = isObject(output) && isObject(output['format']) ? output['format'] : null
    if (!isSince(model, 405) && !(isSince(model, 401) && versionOf(model)?.family !== 'haiku')) {
      if (strict.length > 0) return 'tools.0.custom.strict: Extra inputs are not permitted'
      if (format !== null) return 'output_config.format: This model does not support structured outputs.'
      return null
    }
    if (strict.length > 20) return 'Too many strict tools: the maximum number of strict tools is 20.'
    const schemas = [...strict.map(({ input_schema: schema }) => schema), ...(format === null ? [] : [format['schema']])].filter(isObject)
    const counts = { optional: 0, unions: 0 }
    for (const schema of schemas) {
      const refusal = refusedSchema(schema, schema, counts, [])
      if (refusal !== null) return refusal
    }
    if (counts.optional > 24)
      return `Schemas contains too many optional parameters (${counts.optional}), which would make grammar compilation inefficient. Reduce the number of optional parameters in your tool schemas (limit: 24).`
    return counts.unions > 16
      ? `Schemas contains too many parameters with union types (${counts.unions} parameters with type arrays or anyOf). This causes exponential compilation cost. Reduce the number of nullable or union-typed parameters (limit: 16 parameters with unions).`
      : null
  },
]

const UNSUPPORTED = ['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'multipleOf', 'uniqueItems', 'patternProperties', 'oneOf']

const refusedSchema = (
  schema: Body,
  root: Body,
  counts: { optional: number; unions: number },
  inside: readonly unknown[],
): string | null => {
  const keyword = UNSUPPORTED.find((name) => schema[name] !== undefined)
  if (keyword !== undefined) return `For '${String(schema['type'])}' type, property '${keyword}' is not supported`
  const { type, properties, required, $ref: reference } = schema
  if (typeof reference === 'string') {
    if (reference === '#' || inside.includes(reference)) return 'Circular reference detected in schema definitions'
    let target: unknown = root
    for (const step of reference.split('/').slice(1)) target = isObject(target) ? target[step] : undefined
    return isObject(target) ? refusedSchema(target, root, counts, [...inside, reference]) : `Unresolvable reference ${reference}`
  }
  if ((type === 'object' || isObject(properties)) && schema['additionalProperties'] !== false)
    return "For 'object' type, 'additionalProperties' must be explicitly set to false"
  for (const [name, inner] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(inner)) continue
    if (!list(required).includes(name)) counts.optional += 1
    if (Array.isArray(inner['type']) || inner['anyOf'] !== undefined) counts.unions += 1
    const refusal = refusedSchema(inner, root, counts, inside)
    if (refusal !== null) return refusal
  }
  for (const inner of [schema['items'], ...list(schema['anyOf']), ...list(schema['allOf'])])
    if (isObject(inner)) {
      const refusal = refusedSchema(inner, root, counts, inside)
      if (refusal !== null) return refusal
    }
  return null
}

const marksOf = (body: Body): readonly Body[] => {
  const marked = (blocks: readonly Body[]): readonly Body[] =>
    blocks.flatMap((block) => [...marked(objects(block['content'])), ...(isObject(block['cache_control']) ? [block['cache_control']] : [])])
  const messages = objects(body['messages']).flatMap(({ content }) => objects(content))
  return [...marked(objects(body['tools'])), ...marked(objects(body['system'])), ...marked(messages)]
}

const cacheRules: readonly Rule[] = [
  (body) => {
    const whole = isObject(body['cache_control']) ? [body['cache_control']] : []
    const marks = [...marksOf(body), ...whole]
    const last = messagesOf(body).at(-1)?.blocks.at(-1)?.block['cache_control']
    if (whole.some((mark) => isObject(last) && last['ttl'] !== mark['ttl']))
      return 'Top-level cache_control has another ttl than the cache_control that the target block already has'
    if (marks.length > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`
    const short = marks.findIndex(({ ttl }) => ttl !== '1h')
    return short >= 0 && marks.slice(short).some(({ ttl }) => ttl === '1h')
      ? "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
      : null
  },
]

const RULES: readonly Rule[] = [...fieldRules, ...thinkingRules, ...conversationRules, ...toolRules, ...cacheRules]
