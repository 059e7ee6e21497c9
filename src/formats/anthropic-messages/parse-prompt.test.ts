import { describe, expect, test } from 'bun:test'

import { JsonBody } from '../../lib/json-body.ts'
import { firstFault } from '../first-fault.test-kit.ts'
import { parsePrompt } from './parse-prompt.ts'

const parse = (body: object) => parsePrompt(JsonBody.read(JSON.stringify(body)))

test('a conversation with thinking and two tool calls keeps its order, ids and arguments', () => {
  const prompt = parse({
    max_tokens: 1024,
    system: [
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Use metric units.' },
    ],
    messages: [
      { role: 'user', content: 'Weather in Oslo and Rome?' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Two cities.', signature: 'sig' },
          { type: 'redacted_thinking', data: 'xyz' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'toolu_2', name: 'weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: '3 °C' },
          {
            type: 'tool_result',
            tool_use_id: 'toolu_2',
            is_error: true,
            content: [
              { type: 'text', text: 'no city' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            ],
          },
          { type: 'text', text: 'And now?' },
        ],
      },
      { role: 'system', content: 'The user is in a hurry.' },
    ],
    tools: [
      { type: 'function', name: 'weather', description: 'Now', input_schema: { type: 'object' } },
      { type: 'custom', name: 'ping', input_schema: { type: 'object', properties: {} } },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'array' } } },
  })
  expect(prompt).toEqual({
    messages: [
      {
        role: 'system',
        parts: [
          { type: 'text', text: 'Be brief.' },
          { type: 'text', text: 'Use metric units.' },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'Weather in Oslo and Rome?' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Two cities.' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool-call', id: 'toolu_1', name: 'weather', arguments: '{"city":"Oslo"}' },
          { type: 'tool-call', id: 'toolu_2', name: 'weather', arguments: '{}' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', callId: 'toolu_1', text: '3 °C' },
          { type: 'tool-result', callId: 'toolu_2', text: 'no city' },
          { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
          { type: 'text', text: 'And now?' },
        ],
      },
      { role: 'system', parts: [{ type: 'text', text: 'The user is in a hurry.' }] },
    ],
    tools: [
      { type: 'function', name: 'weather', description: 'Now', parameters: { type: 'object' } },
      { type: 'function', name: 'ping', description: null, parameters: { type: 'object', properties: {} } },
    ],
    toolChoice: { type: 'required' },
    outputFormat: { type: 'json-schema', name: 'response', schema: { type: 'array' } },
    settings: {},
    otherFields: [],
  })
})

test('every source of an image or a document, and unknown blocks', () => {
  const document = (source: object) => ({ type: 'document', title: 'Report', source })
  const { messages } = parse({
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          { type: 'image', source: { type: 'file', file_id: 'file_1' } },
          document({ type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }),
          document({ type: 'url', url: 'https://example.com/a.pdf' }),
          document({ type: 'text', media_type: 'text/plain', data: 'plain' }),
          document({ type: 'content', content: [{ type: 'text', text: 'inner' }] }),
          { type: 'hologram' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
    ],
  })
  expect(messages.map(({ parts }) => parts)).toEqual([
    [{ type: 'text', text: 'Be brief.' }],
    [
      { type: 'image', url: 'https://example.com/a.png' },
      { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', filename: 'Report' },
      { type: 'file', url: 'https://example.com/a.pdf', filename: 'Report' },
      { type: 'text', text: 'plain' },
      { type: 'text', text: 'inner' },
    ],
    [{ type: 'tool-result', callId: 'toolu_1', text: '' }],
  ])
})

test.each<[unknown, object]>([
  [null, { type: 'auto' }],
  [{ type: 'auto' }, { type: 'auto' }],
  [{ type: 'none' }, { type: 'none' }],
  [
    { type: 'tool', name: 'f' },
    { type: 'tool', name: 'f' },
  ],
])('tool_choice %j', (choice, expected) => {
  expect(parse({ messages: [], tool_choice: choice }).toolChoice).toEqual(expected as never)
})

describe('invalid_prompt names the path', () => {
  const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] })
  test.each<[string, object]>([
    ['system', { system: 7 }],
    ['system[0].text', { system: [{ type: 'text' }] }],
    ['messages', { messages: {} }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content[0]', user('x')],
    ['messages[0].content[0].type', user({ text: 'x' })],
    ['messages[0].content[0].tool_use_id', user({ type: 'tool_result', content: 'x' })],
    ['messages[0].content[0].id', user({ type: 'tool_use', name: 'f', input: {} })],
    ['messages[0].content[0].source', user({ type: 'image' })],
    ['messages[0].content[0].source.data', user({ type: 'image', source: { type: 'base64', media_type: 'image/png' } })],
    ['messages[0].content[0].source.url', user({ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } })],
    ['messages[0].content[0].thinking', user({ type: 'thinking' })],
  ])('%s', (path, body) => {
    expect(firstFault(() => parse(body))).toEqual(['invalid_prompt', path])
  })
})

describe('invalid_request names the path', () => {
  test.each<[string, object]>([
    ['tools[0].name', { tools: [{ input_schema: {} }] }],
    ['tool_choice', { tool_choice: 'auto' }],
    ['tool_choice.type', { tool_choice: { type: 'required' } }],
    ['output_config.format.type', { output_config: { format: {} } }],
  ])('%s', (path, body) => {
    expect(firstFault(() => parse({ messages: [], ...body }))).toEqual(['invalid_request', path])
  })
})
