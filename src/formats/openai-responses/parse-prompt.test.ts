import { describe, expect, test } from 'bun:test'

import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { atOnce } from '../../lib/steps.ts'
import { firstFault } from '../first-fault.test-kit.ts'
import { parsePrompt } from './parse-prompt.ts'

const parse = (body: object) => atOnce(parsePrompt(JsonBody.read(JSON.stringify(body))))

test('items of one turn become one message: reasoning, text and two calls, then both results', () => {
  const prompt = parse({
    instructions: 'Be brief.',
    input: [
      { role: 'developer', content: 'Use metric units.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather in Oslo and Rome?' }] },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Two cities.' }], encrypted_content: 'xyz' },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '3 °C' },
      {
        type: 'function_call_output',
        call_id: 'call_2',
        output: [
          { type: 'input_text', text: '18 °C' },
          { type: 'input_image', image_url: 'https://example.com/rome.png', detail: 'auto' },
        ],
      },
      { role: 'user', content: 'And Bonn?' },
      { role: 'user', content: 'Quick!' },
    ],
    tools: [
      { type: 'function', name: 'weather', parameters: null, strict: true },
      { type: 'web_search' },
      { type: 'custom', name: 'grep' },
    ],
    tool_choice: 'required',
    text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' } }, verbosity: 'low' },
  })
  expect(prompt).toEqual({
    messages: [
      { role: 'system', at: 'instructions', parts: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'developer', at: 'input[0]', parts: [{ type: 'text', text: 'Use metric units.' }] },
      { role: 'user', at: 'input[1]', parts: [{ type: 'text', text: 'Weather in Oslo and Rome?' }] },
      {
        role: 'assistant',
        at: 'input[2]',
        parts: [
          {
            type: 'reasoning',
            text: 'Two cities.',
            summary: true,
            proof: { format: 'openai-responses-v1', kind: 'encrypted', data: 'xyz', id: 'rs_1' },
          },
          { type: 'text', text: 'Looking.', phase: 'commentary' },
          { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
          { type: 'tool-call', id: 'call_2', name: 'weather', arguments: '{"city":"Rome"}' },
        ],
      },
      {
        role: 'user',
        at: 'input[6]',
        parts: [
          { type: 'tool-result', callId: 'call_1', text: '3 °C' },
          {
            type: 'tool-result',
            callId: 'call_2',
            text: '18 °C',
            pieces: [
              { type: 'text', text: '18 °C' },
              { type: 'image', url: 'https://example.com/rome.png' },
            ],
          },
        ],
      },
      { role: 'user', at: 'input[8]', parts: [{ type: 'text', text: 'And Bonn?' }] },
      { role: 'user', at: 'input[9]', parts: [{ type: 'text', text: 'Quick!' }] },
    ],
    tools: [
      { type: 'function', name: 'weather', description: null, parameters: { type: 'object', properties: {} }, strict: true },
      { type: 'provider', kind: 'web_search', at: 'tools[1]', raw: { type: 'web_search' } },
      { type: 'custom', kind: 'custom', at: 'tools[2]', name: 'grep', description: null, grammar: null },
    ],
    toolChoice: { type: 'required' },
    outputFormat: { type: 'json-schema', name: 'answer', schema: { type: 'object' } },
    settings: { verbosity: { value: 'low', field: 'text.verbosity' } },
    otherFields: [],
  })
})

test('a string is one user message, and no input is no message', () => {
  expect(parse({ input: 'Hello' }).messages).toEqual([{ role: 'user', at: 'input', parts: [{ type: 'text', text: 'Hello' }] }])
  expect(parse({}).messages).toEqual([])
  expect(parse({ input: null, instructions: null }).messages).toEqual([])
})

test('files, refusals, full reasoning and unknown items', () => {
  const { messages } = parse({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_file', file_url: 'https://example.com/a.pdf' },
          { type: 'input_file', file_data: 'JVBERi0=', filename: 'b.pdf' },
          { type: 'input_file', file_id: 'file-1' },
          { type: 'input_image', file_id: 'file-2', detail: 'auto' },
          { type: 'input_hologram' },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'short' }], content: [{ type: 'reasoning_text', text: 'long' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'valueOf' },
    ],
  })
  expect(messages.map(({ parts }) => parts)).toEqual([
    [
      { type: 'file', url: 'https://example.com/a.pdf', filename: null },
      { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', filename: 'b.pdf' },
      { type: 'unknown', kind: 'input_file', at: 'input[0].content[2]', content: true, fileId: 'file-1' },
      { type: 'unknown', kind: 'input_image', at: 'input[0].content[3]', content: true, fileId: 'file-2' },
      { type: 'unknown', kind: 'input_hologram', at: 'input[0].content[4]', content: true },
    ],
    [
      { type: 'reasoning', text: 'long' },
      { type: 'refusal', text: 'No.' },
      { type: 'unknown', kind: 'web_search_call', at: 'input[3]' },
      { type: 'unknown', kind: 'valueOf', at: 'input[4]' },
    ],
  ])
})

test('cache marks, media, sources of a text, and a result that is all parts', () => {
  const site = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }
  const { messages } = parse({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'input_image', image_url: 'https://a.example/i.png', detail: 'high', cache_control: { type: 'ephemeral', ttl: '5m' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
          { type: 'input_video', video_url: 'https://a.example/v.mp4' },
        ],
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'A', annotations: [site, { type: 'file_path', file_id: 'f' }] }] },
      { type: 'custom_tool_call_output', call_id: 'c0', output: 'x' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_file', file_url: 'https://a.example/f.pdf' }] },
    ],
  })
  expect(messages).toEqual([
    {
      role: 'user',
      at: 'input[0]',
      parts: [
        { type: 'text', text: 'a', cache: {} },
        { type: 'image', url: 'https://a.example/i.png', detail: 'high', cache: { ttl: '5m' } },
        { type: 'audio', data: 'AA==', format: 'wav' },
        { type: 'video', url: 'https://a.example/v.mp4' },
      ],
    },
    {
      role: 'assistant',
      at: 'input[1]',
      parts: [
        { type: 'text', text: 'A', annotations: [{ url: 'https://a.example', title: 'A', content: null, start: 0, end: 1 }] },
        { type: 'unknown', kind: 'file_path', at: 'input[1].content[0].annotations[1]' },
      ],
    },
    {
      role: 'user',
      at: 'input[2]',
      parts: [
        { type: 'tool-result', callId: 'c0', text: 'x' },
        { type: 'tool-result', callId: 'c1', text: '', pieces: [{ type: 'file', url: 'https://a.example/f.pdf', filename: null }] },
      ],
    },
  ])
})

test('a sealed proof is opened, and one that bears the id of a call is the call’s', () => {
  const claude = { format: 'anthropic-claude-v1', kind: 'signature', data: 's' } as const
  const google = { format: 'google-gemini-v1', kind: 'signature', data: 'g' } as const
  const { messages } = parse({
    input: [
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 't' }], encrypted_content: sealProof(claude) },
      { type: 'reasoning', summary: [], encrypted_content: sealProof({ ...google, id: 'c1' }) },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    ],
  })
  expect(messages[0]?.parts).toEqual([
    { type: 'reasoning', text: 't', proof: claude },
    { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}', proof: google },
  ])
})

test('thinking with the mark of unsigned thinking has no proof, and a mark alone says nothing', () => {
  const { messages } = parse({
    input: [
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 't' }], encrypted_content: UNSIGNED },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: UNSIGNED },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    ],
  })
  expect(messages[0]?.parts).toEqual([
    { type: 'reasoning', text: 't' },
    { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' },
  ])
})

test.each<[unknown, object]>([
  [null, { type: 'auto' }],
  ['none', { type: 'none' }],
  [
    { type: 'function', name: 'f' },
    { type: 'tool', name: 'f' },
  ],
  [{ type: 'allowed_tools', mode: 'required', tools: [] }, { type: 'required' }],
  [{ type: 'web_search_preview' }, { type: 'auto' }],
])('tool_choice %j', (choice, expected) => {
  expect(parse({ tool_choice: choice }).toolChoice).toEqual(expected as never)
})

test.each<[unknown, object]>([
  [{ verbosity: 'low' }, { type: 'text' }],
  [{ format: { type: 'text' } }, { type: 'text' }],
  [{ format: { type: 'json_object' } }, { type: 'json' }],
])('text %j', (text, expected) => {
  expect(parse({ text }).outputFormat).toEqual(expected as never)
})

describe('invalid_prompt names the path', () => {
  test.each<[string, object]>([
    ['instructions', { instructions: 7 }],
    ['input', { input: 7 }],
    ['input[0]', { input: [null] }],
    ['input[0].role', { input: [{ content: 'x' }] }],
    ['input[0].role', { input: [{ role: 'tool', content: 'x' }] }],
    ['input[0].content', { input: [{ role: 'user' }] }],
    ['input[0].content[0].text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    ['input[0].output', { input: [{ type: 'function_call_output', call_id: 'a', output: 7 }] }],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['input[0].name', { input: [{ type: 'function_call', call_id: 'a', arguments: '{}' }] }],
  ])('%s', (path, body) => {
    expect(firstFault(() => parse(body))).toEqual(['invalid_prompt', path])
  })
})

describe('invalid_request names the path', () => {
  test.each<[string, object]>([
    ['tools[0].type', { tools: [{}] }],
    ['tools[0].name', { tools: [{ type: 'function' }] }],
    ['tool_choice', { tool_choice: 'any' }],
    ['text', { text: 'json' }],
    ['text.format.type', { text: { format: {} } }],
  ])('%s', (path, body) => {
    expect(firstFault(() => parse(body))).toEqual(['invalid_request', path])
  })
})
