import { describe, expect, test } from 'bun:test'

import { JsonBody } from '../../lib/json/json-body.ts'
import { atOnce } from '../../lib/steps.ts'
import { firstFault } from '../first-fault.test-kit.ts'
import { parsePrompt } from './parse-prompt.ts'

const parse = (body: object) => atOnce(parsePrompt(JsonBody.read(JSON.stringify(body))))
const PNG = 'data:image/png;base64,iVBORw0KGgo='

test('a conversation with two parallel tool calls keeps its order, ids and arguments', () => {
  const prompt = parse({
    model: 'openai/gpt-5.4',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: [{ type: 'text', text: 'Use metric units.', cache_control: { type: 'ephemeral' } }] },
      { role: 'user', content: 'Weather in Oslo and Rome?' },
      {
        role: 'assistant',
        content: null,
        reasoning: 'Two cities.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city": "Oslo"}' } },
          { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"city": "Rome"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '3 °C' },
      {
        role: 'tool',
        tool_call_id: 'call_2',
        content: [
          { type: 'text', text: '18 °C' },
          { type: 'text', text: 'sunny' },
        ],
      },
      { role: 'assistant', content: 'Oslo 3, Rome 18.' },
      { role: 'user', content: 'Thanks' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'weather', description: 'Now', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
      },
      { type: 'function', function: { name: 'ping' } },
      { type: 'openrouter:web_search' },
    ],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } },
  })
  expect(prompt).toEqual({
    messages: [
      { role: 'system', at: 'messages[0]', parts: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'developer', at: 'messages[1]', parts: [{ type: 'text', text: 'Use metric units.', cache: {} }] },
      { role: 'user', at: 'messages[2]', parts: [{ type: 'text', text: 'Weather in Oslo and Rome?' }] },
      {
        role: 'assistant',
        at: 'messages[3]',
        parts: [
          { type: 'reasoning', text: 'Two cities.' },
          { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city": "Oslo"}' },
          { type: 'tool-call', id: 'call_2', name: 'weather', arguments: '{"city": "Rome"}' },
        ],
      },
      {
        role: 'user',
        at: 'messages[4]',
        parts: [
          { type: 'tool-result', callId: 'call_1', text: '3 °C' },
          {
            type: 'tool-result',
            callId: 'call_2',
            text: '18 °C\nsunny',
            pieces: [
              { type: 'text', text: '18 °C' },
              { type: 'text', text: 'sunny' },
            ],
          },
        ],
      },
      { role: 'assistant', at: 'messages[6]', parts: [{ type: 'text', text: 'Oslo 3, Rome 18.' }] },
      { role: 'user', at: 'messages[7]', parts: [{ type: 'text', text: 'Thanks' }] },
    ],
    tools: [
      { type: 'function', name: 'weather', description: 'Now', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
      { type: 'function', name: 'ping', description: null, parameters: { type: 'object', properties: {} } },
      { type: 'provider', kind: 'openrouter:web_search', at: 'tools[2]', raw: { type: 'openrouter:web_search' } },
    ],
    toolChoice: { type: 'tool', name: 'weather' },
    outputFormat: { type: 'json-schema', name: 'answer', schema: { type: 'object' }, strict: true },
    settings: {},
    otherFields: [],
  })
})

test('a tool that returned nothing has an empty result', () => {
  const { messages } = parse({ messages: [{ role: 'tool', tool_call_id: 'a', content: null }] })
  expect(messages[0]?.parts).toEqual([{ type: 'tool-result', callId: 'a', text: '' }])
})

test('images, files, refusals and unknown parts', () => {
  const { messages } = parse({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          { type: 'file', file: { file_data: 'JVBERi0=', filename: 'a.pdf' } },
          { type: 'file', file: { file_data: 'data:text/plain;base64,aGk=' } },
          { type: 'file', file: { file_id: 'file-1' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
          { type: 'constructor', text: 'x' },
          { type: 'text', text: '' },
        ],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'assistant', refusal: 'No, again.' },
      { role: 'assistant', content: null },
    ],
  })
  expect(messages.map(({ parts }) => parts)).toEqual([
    [
      { type: 'image', url: PNG, detail: 'low' },
      { type: 'image', url: 'https://example.com/a.png' },
      { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
      { type: 'file', url: 'data:text/plain;base64,aGk=', filename: null },
      { type: 'unknown', kind: 'file', at: 'messages[0].content[4].file', content: true, fileId: 'file-1' },
      { type: 'audio', data: 'AA==', format: 'wav' },
      { type: 'unknown', kind: 'constructor', at: 'messages[0].content[6]', content: true },
      { type: 'text', text: '' },
    ],
    [{ type: 'refusal', text: 'No.' }],
    [{ type: 'refusal', text: 'No, again.' }],
    [],
  ])
})

test('cache marks, names, sources of a text, and what has no word in the middle', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const site = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 }
  const { messages, tools } = parse({
    messages: [
      {
        role: 'user',
        name: 'Ann',
        content: [
          { type: 'text', text: 'a', ...mark },
          { type: 'image_url', image_url: { url: PNG }, ...mark },
        ],
      },
      { role: 'user', content: 'b', cache_control: { type: 'ephemeral' } },
      {
        role: 'assistant',
        content: 'See A.',
        audio: { id: 'audio_1' },
        annotations: [
          { type: 'url_citation', url_citation: site },
          { type: 'file', file: { hash: 'x' } },
        ],
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'grep', input: 'x' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: [{ type: 'text', text: 'r' }, { type: 'image_url', image_url: { url: PNG }, ...mark }, { type: 'hologram' }],
      },
    ],
    tools: [{ type: 'function', function: { name: 'f', strict: true }, cache_control: { type: 'ephemeral' } }],
  })
  const cache = { ttl: '1h' as const }
  expect(messages).toEqual([
    {
      role: 'user',
      name: 'Ann',
      at: 'messages[0]',
      parts: [
        { type: 'text', text: 'a', cache },
        { type: 'image', url: PNG, cache },
      ],
    },
    { role: 'user', at: 'messages[1]', parts: [{ type: 'text', text: 'b', cache: {} }] },
    {
      role: 'assistant',
      at: 'messages[2]',
      parts: [
        { type: 'text', text: 'See A.', annotations: [{ url: 'https://a.example', title: 'A', content: null, start: 0, end: 3 }] },
        { type: 'unknown', kind: 'file', at: 'messages[2].annotations[1]' },
        { type: 'unknown', kind: 'audio', at: 'messages[2].audio' },
        { type: 'tool-call', id: 'c1', name: 'grep', arguments: 'x', custom: true },
      ],
    },
    {
      role: 'user',
      at: 'messages[3]',
      parts: [
        {
          type: 'tool-result',
          callId: 'c1',
          text: 'r',
          pieces: [
            { type: 'text', text: 'r' },
            { type: 'image', url: PNG, cache },
          ],
          cache,
        },
        { type: 'unknown', kind: 'hologram', at: 'messages[3].content[2]', content: true },
      ],
    },
  ])
  expect(tools).toMatchObject([{ type: 'function', name: 'f', strict: true, cache: {} }])
})

test('sound and video', () => {
  const { messages } = parse({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
          { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } },
          { type: 'input_video', video_url: { url: 'data:video/mp4;base64,AA==' } },
        ],
      },
    ],
  })
  expect(messages[0]?.parts).toEqual([
    { type: 'audio', data: 'AA==', format: 'mp3' },
    { type: 'video', url: 'https://a.example/v.mp4' },
    { type: 'video', url: 'data:video/mp4;base64,AA==' },
  ])
})

test.each<[unknown, object]>([
  [undefined, { type: 'auto' }],
  [null, { type: 'auto' }],
  ['none', { type: 'none' }],
  ['required', { type: 'required' }],
  [{ type: 'openrouter:web_search' }, { type: 'auto' }],
  [{ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } }, { type: 'required' }],
])('tool_choice %j', (choice, expected) => {
  expect(parse({ messages: [], tool_choice: choice }).toolChoice).toEqual(expected as never)
})

test.each<[unknown, object]>([
  [null, { type: 'text' }],
  [{ type: 'text' }, { type: 'text' }],
  [{ type: 'json_object' }, { type: 'json' }],
  [{ type: 'grammar', grammar: 'root ::= "x"' }, { type: 'text' }],
  [
    { type: 'json_schema', json_schema: {} },
    { type: 'json-schema', name: 'response', schema: {} },
  ],
])('response_format %j', (format, expected) => {
  expect(parse({ messages: [], response_format: format }).outputFormat).toEqual(expected as never)
})

describe('invalid_prompt names the path', () => {
  test.each<[string, unknown]>([
    ['messages', 'hello'],
    ['messages[0]', ['hello']],
    ['messages[0].role', [{ content: 'x' }]],
    ['messages[0].role', [{ role: 'function', content: 'x' }]],
    ['messages[0].role', [{ role: 'toString', content: 'x' }]],
    ['messages[1].content', [{ role: 'user', content: 'x' }, { role: 'user' }]],
    ['messages[0].content', [{ role: 'user', content: null }]],
    ['messages[0].content', [{ role: 'user', content: 7 }]],
    ['messages[0].content', [{ role: 'assistant' }]],
    ['messages[0].content[1].type', [{ role: 'user', content: [{ type: 'text', text: 'a' }, { text: 'b' }] }]],
    ['messages[0].content[0].cache_control.ttl', [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { ttl: '2h' } }] }]],
    ['messages[0].reasoning_details[0].type', [{ role: 'assistant', reasoning_details: [{ text: 'a' }] }]],
    ['messages[0].content[0].text', [{ role: 'user', content: [{ type: 'text' }] }]],
    ['messages[0].content[0].image_url', [{ role: 'user', content: [{ type: 'image_url', image_url: '/etc/passwd' }] }]],
    ['messages[0].content[0].image_url.url', [{ role: 'user', content: [{ type: 'image_url', image_url: { url: '/etc/passwd' } }] }]],
    ['messages[0].tool_call_id', [{ role: 'tool', content: 'x' }]],
    ['messages[0].content', [{ role: 'tool', tool_call_id: 'a' }]],
    ['messages[0].tool_calls[0].id', [{ role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'f', arguments: '' } }] }]],
    ['messages[0].tool_calls[0].function', [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }]],
    ['messages[0].tool_calls', [{ role: 'assistant', content: 'x', tool_calls: {} }]],
  ])('%s', (path, messages) => {
    expect(firstFault(() => parse({ messages }))).toEqual(['invalid_prompt', path])
  })
})

describe('invalid_request names the path', () => {
  test.each<[string, object]>([
    ['tools', { tools: {} }],
    ['tools[0].function', { tools: [{ type: 'function' }] }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tool_choice', { tool_choice: 'any' }],
    ['tool_choice.function.name', { tool_choice: { type: 'function', function: {} } }],
    ['response_format', { response_format: 'json' }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
  ])('%s', (path, body) => {
    expect(firstFault(() => parse({ messages: [], ...body }))).toEqual(['invalid_request', path])
  })
})
