/** Bodies that use all features of each interface, and every position of a string in them that is sent to a provider. */
import type { JsonValue } from '../../src/lib/json/json.ts'
import type { Dialect } from './calls.ts'

export type Path = readonly (string | number)[]

const PICTURE = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'.repeat(10), 'latin1').toString('base64')}`
const PROOF = Buffer.from('\x01\xfe\x02\xfd'.repeat(40), 'latin1').toString('base64')

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Where', enum: ['Oslo', 'Rome'], default: 'Oslo', examples: ['Rome'] },
    status: { type: 'string', format: 'date', title: 'State' },
  },
  required: ['city'],
  additionalProperties: { type: 'string', pattern: '^x' },
}

const UNKNOWN = {
  user: 'someone',
  metadata: { purpose: 'a test' },
  documents: [{ title: 'One', text: 'Two', id: 'three', deep: [{ type: 'four' }] }],
  chat_template: '{{ messages }}',
  chat_template_kwargs: { language: 'en', nested: { role: 'r' } },
  suffix: 'The end.',
  novelty: ['x', { format: 'y' }],
}

const INPUT = {
  id: 'a',
  status: 'b',
  detail: 'c',
  format: 'd',
  type: 'e',
  role: 'f',
  ttl: 'g',
  call_id: 'h',
  signature: 'i',
  data: 'j',
  url: 'data:image/png;base64,k',
  deep: [{ media_type: 'l' }],
}

export const BODIES: Readonly<Record<Dialect, Record<string, JsonValue>>> = {
  chat: {
    ...UNKNOWN,
    model: 'm',
    stop: ['END'],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', ttl: '5m' } }] },
      {
        role: 'user',
        name: 'jo',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'image_url', image_url: { url: PICTURE, detail: 'low' } },
          { type: 'input_audio', input_audio: { data: PROOF, format: 'wav' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: PICTURE } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning: 'Hm.',
        refusal: 'No.',
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: PROOF, id: 'r1', format: 'unknown' },
          { type: 'reasoning.encrypted', data: PROOF },
        ],
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":"b"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'Looks', parameters: SCHEMA } }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: SCHEMA } },
    reasoning_effort: 'high',
    prediction: { type: 'content', content: [{ type: 'text', text: 'guess' }] },
  },
  messages: {
    ...UNKNOWN,
    model: 'm',
    max_tokens: 10,
    stop_sequences: ['END'],
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PROOF } },
          { type: 'document', title: 'T', context: 'C', source: { type: 'text', media_type: 'text/plain', data: 'x'.repeat(300) } },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'block' }] }, citations: { enabled: true } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: PROOF },
          { type: 'redacted_thinking', data: PROOF },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: INPUT },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'Sunny' }] }] },
    ],
    tools: [
      { name: 'f', description: 'Looks', input_schema: SCHEMA },
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['example.org'] },
    ],
    tool_choice: { type: 'tool', name: 'f' },
  },
  responses: {
    ...UNKNOWN,
    model: 'm',
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hello' },
          { type: 'input_image', image_url: PICTURE, detail: 'auto' },
          { type: 'input_file', filename: 'a.txt', file_data: PICTURE },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: PROOF },
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":"b"}', status: 'completed' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'g', input: 'free' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'done' }] },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Yes', annotations: [] }],
      },
      { type: 'novelty', payload: INPUT },
    ],
    tools: [
      { type: 'function', name: 'f', description: 'Looks', parameters: SCHEMA },
      { type: 'custom', name: 'g', description: 'Free', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
      { type: 'mcp', server_label: 's', server_url: 'https://example.org/mcp', server_description: 'd', allowed_tools: ['t'] },
    ],
    tool_choice: { type: 'function', name: 'f' },
    text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA }, verbosity: 'low' },
    reasoning: { effort: 'high', summary: 'auto' },
  },
}

/** Leaves out the model's name, which chooses the provider and which no model reads. */
export function* stringsOf(value: JsonValue, path: Path = []): Generator<Path> {
  if (typeof value === 'string') yield path
  else if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* stringsOf(item, [...path, at])
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) if (path.length > 0 || key !== 'model') yield* stringsOf(item, [...path, key])
  }
}

/** A copy with another text at this position. */
export const put = (body: Record<string, JsonValue>, path: Path, text: string): Record<string, JsonValue> => {
  const copy = structuredClone(body)
  let at: JsonValue = copy
  for (const step of path.slice(0, -1)) at = (at as Record<string | number, JsonValue>)[step] ?? null
  ;(at as Record<string | number, JsonValue>)[path.at(-1) ?? ''] = text
  return copy
}
