/** Requests as clients send them: with every kind of part, turns in any order, and values that only some vendors take. */
import * as fc from 'fast-check'

import type { ClientDialect } from '../../src/canonical/call.ts'

/** Text as clients leave it: empty, only white space, or with white space at its end. */
const words = fc.constantFrom('', ' ', '\n\t', '\u00a0', 'Hello', 'Hello \n', '2', 'É')
const ids = fc.constantFrom('a', 'b', 'a', 'functions.f:0', '', 'x'.repeat(70), 'abcDEF123')
const inputs = fc.constantFrom<unknown>({}, { id: 'a', text: '' }, { type: 'tool_use' }, 'text', null, [1])
const marks = fc.constantFrom<object>(
  {},
  {},
  {},
  { cache_control: { type: 'ephemeral' } },
  { cache_control: { type: 'ephemeral', ttl: '1h' } },
)
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> => fc.option(value, { nil: undefined, freq: 2 })

/** Schemas as generators and people write them. */
const schemas = fc.constantFrom<object>(
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  { type: 'object', properties: { a: { type: ['string', 'null'] }, b: { anyOf: [{ type: 'integer', minimum: 3 }, { type: 'null' }] } } },
  { type: 'object', properties: {}, additionalProperties: { type: 'number' } },
  {
    type: 'object',
    properties: { next: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  },
  {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, { type: 'string', maxLength: 4 }])),
  },
  { properties: { a: { type: 'string' } } },
  {
    anyOf: [
      { type: 'object', properties: { a: { type: 'string' } } },
      { type: 'object', properties: { b: { type: 'string' } } },
    ],
  },
  {},
)
const toolNames = fc.constantFrom('f', 'g', 'f', 'web_search', 'a.b/c')

const messagesTools = fc.array(
  fc
    .record({ name: toolNames, input_schema: schemas, strict: maybe(fc.boolean()), mark: marks })
    .map(({ mark, ...tool }) => ({ ...tool, ...mark })),
  { maxLength: 3 },
)
const manyStrict = fc
  .integer({ min: 18, max: 24 })
  .map((count) =>
    Array.from({ length: count }, (_, index) => ({ name: `t${index}`, strict: true, input_schema: { type: 'object', properties: {} } })),
  )

const picture = fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } })
const text = fc.record({ type: fc.constant('text'), text: words, mark: marks }).map(({ mark, ...block }) => ({ ...block, ...mark }))
const call = fc.record({ type: fc.constant('tool_use'), id: ids, name: fc.constantFrom('f', 'g'), input: inputs })
const result = fc.record({
  type: fc.constant('tool_result'),
  tool_use_id: ids,
  content: maybe(fc.oneof(words, fc.array(fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: picture }), { maxLength: 2 }))),
  is_error: maybe(fc.boolean()),
})
const thinking = fc.record({ type: fc.constant('thinking'), thinking: words, signature: fc.constantFrom('c2ln', '') })
const redacted = fc.record({ type: fc.constant('redacted_thinking'), data: fc.constantFrom('eHl6', '') })
const image = fc.constantFrom(
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
  { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'D' } },
  { type: 'image', source: { type: 'file', file_id: 'file_1' } },
)
const searched = fc.constantFrom(
  [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } }],
  [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
  ],
)

const withoutContent = ({ type, tool_use_id }: { readonly type: string; readonly tool_use_id: string }): object => ({
  type,
  tool_use_id,
  content: 'R',
})

const turn = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      role: fc.constant('user'),
      content: fc.oneof(words, fc.array(fc.oneof(text, result, image), { maxLength: 4 })),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      role: fc.constant('assistant'),
      content: fc.oneof(
        words,
        fc.array(fc.oneof(text, call, thinking, redacted), { maxLength: 4 }),
        fc.tuple(fc.array(text, { maxLength: 1 }), searched).map(([before, blocks]) => [...before, ...blocks]),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ role: fc.constant('system'), content: fc.oneof(words, fc.array(text, { maxLength: 2 })) }) },
  // Parts in messages of the wrong role.
  {
    weight: 1,
    arbitrary: fc.record({
      role: fc.constantFrom('user', 'assistant'),
      content: fc.array(fc.oneof(call, result.map(withoutContent), thinking), { maxLength: 2 }),
    }),
  },
)

const messagesBody = fc.record(
  {
    messages: fc.array(turn, { minLength: 1, maxLength: 7 }),
    max_tokens: fc.constantFrom(1, 900, 1024, 1025, 4000, 20_000),
    system: maybe(fc.oneof(words, fc.array(text, { maxLength: 2 }))),
    tools: maybe(fc.oneof({ weight: 4, arbitrary: messagesTools }, { weight: 1, arbitrary: manyStrict })),
    tool_choice: maybe(
      fc.constantFrom(
        { type: 'auto' },
        { type: 'any' },
        { type: 'none' },
        { type: 'tool', name: 'f' },
        { type: 'any', disable_parallel_tool_use: true },
      ),
    ),
    thinking: maybe(
      fc.constantFrom<object>(
        { type: 'enabled', budget_tokens: 1 },
        { type: 'enabled', budget_tokens: 1024 },
        { type: 'enabled', budget_tokens: 30_000 },
        { type: 'adaptive' },
        { type: 'disabled' },
      ),
    ),
    output_config: maybe(
      fc.record({
        effort: maybe(fc.constantFrom('low', 'max')),
        format: maybe(schemas.map((schema) => ({ type: 'json_schema', schema }))),
      }),
    ),
    temperature: maybe(fc.constantFrom(0, 0.5, 1, 1.7)),
    top_p: maybe(fc.constantFrom(0.1, 0.97, 1)),
    top_k: maybe(fc.constantFrom(1, 40)),
    stop_sequences: maybe(fc.array(fc.constantFrom('END', ' ', ''), { maxLength: 2 })),
    metadata: maybe(fc.record({ user_id: maybe(fc.constantFrom('u', 'x'.repeat(257), 'x'.repeat(256))), team: maybe(fc.constant('t')) })),
    cache_control: maybe(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' })),
    context_management: maybe(
      fc.constant({ edits: [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }] }),
    ),
    container: maybe(fc.constantFrom<unknown>(null, null, { skills: [{ type: 'anthropic', skill_id: 'pptx' }] }, 'container_1')),
  },
  { requiredKeys: ['messages', 'max_tokens'] },
)

const functionOf = fc.record({ name: toolNames, parameters: maybe(schemas), strict: maybe(fc.boolean()) })
const chatCall = fc.record({
  id: ids,
  type: fc.constant('function'),
  function: fc.record({ name: fc.constantFrom('f', 'g'), arguments: fc.constantFrom('', '{}', '{"a":', '[1]') }),
})
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const chatPicture = fc.constant({ type: 'image_url', image_url: { url: PNG } })
const thought = fc.constant({ type: 'thinking', thinking: [{ type: 'text', text: 'T' }] })
const chatTurn = fc.oneof(
  fc.record({
    role: fc.constantFrom('user', 'system', 'developer'),
    content: fc.oneof(words, fc.array(text, { minLength: 1, maxLength: 3 })),
    name: maybe(fc.constant('ann')),
  }),
  fc.record({ role: fc.constant('user'), content: fc.array(fc.oneof(text, chatPicture), { minLength: 1, maxLength: 3 }) }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.oneof(words, fc.array(fc.oneof(text, thought), { minLength: 1, maxLength: 3 })),
    tool_calls: maybe(fc.array(chatCall, { minLength: 1, maxLength: 2 })),
    reasoning: maybe(words),
    reasoning_content: maybe(words),
  }),
  fc.record({
    role: fc.constant('tool'),
    tool_call_id: ids,
    content: fc.array(fc.oneof(text, chatPicture), { minLength: 1, maxLength: 2 }),
    name: maybe(fc.constant('f')),
  }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.oneof(words, fc.constant(null)),
    tool_calls: maybe(fc.array(chatCall, { minLength: 1, maxLength: 3 })),
    refusal: maybe(words),
    reasoning_details: maybe(fc.constant([{ type: 'reasoning.text', text: 'T', signature: 'c2ln', format: 'anthropic-claude-v1' }])),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: ids, content: words }),
)
const chatBody = fc.record(
  {
    messages: fc.array(chatTurn, { minLength: 1, maxLength: 7 }),
    tools: maybe(
      fc.array(
        functionOf.map((each) => ({ type: 'function', function: each })),
        { maxLength: 3 },
      ),
    ),
    tool_choice: maybe(fc.constantFrom<unknown>('auto', 'required', 'none', { type: 'function', function: { name: 'f' } })),
    max_tokens: maybe(fc.constantFrom(1, 1024, 4000)),
    reasoning: maybe(fc.constantFrom<object>({ effort: 'high' }, { max_tokens: 1 }, { enabled: true }, { effort: 'none' })),
    response_format: maybe(
      fc.oneof(
        fc.constant<object>({ type: 'json_object' }),
        schemas.map((schema) => ({ type: 'json_schema', json_schema: { name: 'r', schema, strict: true } })),
      ),
    ),
    temperature: maybe(fc.constantFrom(0, 1, 1.7)),
    top_p: maybe(fc.constantFrom(0.1, 1)),
    top_k: maybe(fc.constantFrom(1, 40)),
    stop: maybe(fc.constantFrom<unknown>('END', [' ', ''])),
    user: maybe(fc.constantFrom('u', 'x'.repeat(256))),
    parallel_tool_calls: maybe(fc.boolean()),
    cache_control: maybe(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' })),
    web_search_options: maybe(fc.constant({})),
  },
  { requiredKeys: ['messages'] },
)

const inputText = words.map((said) => ({ type: 'input_text', text: said }))
const inputPicture = fc.constant({ type: 'input_image', image_url: PNG, detail: 'auto' })
const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content: words }),
  fc.record({
    type: fc.constant('function_call'),
    call_id: ids,
    name: fc.constantFrom('f', 'g'),
    arguments: fc.constantFrom('', '{}', '[1]'),
  }),
  fc.record({ type: fc.constant('function_call_output'), call_id: ids, output: words }),
  fc.record({
    type: fc.constant('function_call_output'),
    call_id: ids,
    output: fc.array(fc.oneof(inputText, inputPicture), { maxLength: 2 }),
  }),
  fc.record({ type: fc.constant('custom_tool_call'), call_id: ids, name: fc.constant('patch'), input: words }),
  fc.record({ type: fc.constant('custom_tool_call_output'), call_id: ids, output: words }),
  fc.record({ role: fc.constant('user'), content: fc.array(fc.oneof(inputText, inputPicture), { minLength: 1, maxLength: 3 }) }),
  fc.record({
    type: fc.constant('message'),
    id: fc.constant('msg_1'),
    role: fc.constant('assistant'),
    status: fc.constant('completed'),
    content: fc.array(
      fc.oneof(
        words.map((said) => ({ type: 'output_text', text: said, annotations: [] })),
        words.map((said) => ({ type: 'refusal', refusal: said })),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  fc.record({
    type: fc.constant('reasoning'),
    id: fc.constant('rs_1'),
    summary: fc.array(
      words.map((said) => ({ type: 'summary_text', text: said })),
      { maxLength: 2 },
    ),
    encrypted_content: maybe(fc.constant('c2ln')),
  }),
)
const responsesBody = fc.record(
  {
    input: fc.array(item, { minLength: 1, maxLength: 7 }),
    instructions: maybe(words),
    tools: maybe(
      fc.array(
        functionOf.map((each) => ({ type: 'function', ...each })),
        { maxLength: 3 },
      ),
    ),
    tool_choice: maybe(fc.constantFrom<unknown>('auto', 'required', 'none', { type: 'function', name: 'f' })),
    max_output_tokens: maybe(fc.constantFrom(16, 1024, 4000)),
    reasoning: maybe(fc.constantFrom({ effort: 'high' }, { effort: 'minimal' })),
    text: maybe(schemas.map((schema) => ({ format: { type: 'json_schema', name: 'r', schema, strict: true } }))),
    temperature: maybe(fc.constantFrom(0, 1, 1.7)),
    top_p: maybe(fc.constantFrom(0.1, 1)),
  },
  { requiredKeys: ['input'] },
)

export const REQUESTS: Readonly<Record<ClientDialect, fc.Arbitrary<object>>> = {
  chat: chatBody,
  responses: responsesBody,
  messages: messagesBody,
}
/** Without the members that are undefined, as they are sent. */
export const defined = (body: object): object => JSON.parse(JSON.stringify(body)) as object
