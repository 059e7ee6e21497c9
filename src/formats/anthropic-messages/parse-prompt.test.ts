import { describe, expect, test } from 'bun:test'

import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { atOnce } from '../../lib/steps.ts'
import { firstFault } from '../first-fault.test-kit.ts'
import { parsePrompt } from './parse-prompt.ts'

const parse = (body: object) => atOnce(parsePrompt(JsonBody.read(JSON.stringify(body))))

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
      { name: 'weather', description: 'Now', input_schema: { type: 'object' } },
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
        at: 'system',
        parts: [
          { type: 'text', text: 'Be brief.', cache: {} },
          { type: 'text', text: 'Use metric units.' },
        ],
      },
      { role: 'user', at: 'messages[0]', parts: [{ type: 'text', text: 'Weather in Oslo and Rome?' }] },
      {
        role: 'assistant',
        at: 'messages[1]',
        parts: [
          { type: 'reasoning', text: 'Two cities.', proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 'sig' } },
          { type: 'reasoning', text: '', proof: { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'xyz' } },
          { type: 'text', text: 'Looking.' },
          { type: 'tool-call', id: 'toolu_1', name: 'weather', arguments: '{"city":"Oslo"}' },
          { type: 'tool-call', id: 'toolu_2', name: 'weather', arguments: '{}' },
        ],
      },
      {
        role: 'user',
        at: 'messages[2]',
        parts: [
          { type: 'tool-result', callId: 'toolu_1', text: '3 °C' },
          {
            type: 'tool-result',
            callId: 'toolu_2',
            text: 'no city',
            isError: true,
            pieces: [
              { type: 'text', text: 'no city' },
              { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
            ],
          },
          { type: 'text', text: 'And now?' },
        ],
      },
      { role: 'system', at: 'messages[3]', parts: [{ type: 'text', text: 'The user is in a hurry.' }] },
    ],
    tools: [
      { type: 'function', name: 'weather', description: 'Now', parameters: { type: 'object' } },
      { type: 'function', name: 'ping', description: null, parameters: { type: 'object', properties: {} } },
      {
        type: 'provider',
        kind: 'web_search_20250305',
        at: 'tools[2]',
        raw: { type: 'web_search_20250305', name: 'web_search' },
      },
    ],
    toolChoice: { type: 'required' },
    outputFormat: { type: 'json-schema', name: 'response', schema: { type: 'array' } },
    settings: {
      maxOutputTokens: { value: 1024, field: 'max_tokens' },
      parallelToolCalls: { value: false, field: 'tool_choice.disable_parallel_tool_use' },
      reasoning: { value: { effort: 'low' }, field: 'output_config.effort' },
    },
    otherFields: [],
  })
})

describe('the line for Anthropic’s billing that Claude Code sends is no word to a model', () => {
  const line = 'x-anthropic-billing-header: cc_version=2.1.9; cch=abcde;'
  const kind = { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }
  const systemOf = (system: unknown) => parse({ system, messages: [{ role: 'user', content: 'Hi' }] }).messages.slice(0, -1)
  const said = (text: string) => [
    { role: 'system' as const, at: 'system', parts: [expect.objectContaining({ type: 'text' as const, text })] },
  ]

  test.each<[string, unknown, unknown]>([
    ['as a block', [{ type: 'text', text: line }, kind], said('Be kind.')],
    ['before other words of its block', [{ ...kind, text: `${line}\n\nBe kind.` }], said('Be kind.')],
    ['as the first line of a text', `${line}\nBe kind.`, said('Be kind.')],
    ['alone', [{ type: 'text', text: line }], []],
    ['but it stays where it is quoted', `Leave out ${line}`, said(`Leave out ${line}`)],
  ])('%s', (_, system, messages) => {
    expect(systemOf(system)).toEqual(messages as never)
  })
})

test('the line for Anthropic’s billing is no word of a system message among the turns either', () => {
  const line = 'x-anthropic-billing-header: cc_version=2.1.9; cch=abcde;'
  const messagesOf = (content: unknown) =>
    parse({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content },
      ],
    }).messages.slice(1)
  expect(messagesOf(`${line}\nBe kind.`)).toEqual([{ role: 'system', at: 'messages[1]', parts: [{ type: 'text', text: 'Be kind.' }] }])
  expect(messagesOf([{ type: 'text', text: line }])).toEqual([])
})

test('a summary of the turns before it is its text; a sealed one keeps its type', () => {
  const compaction = (content: string | null) => ({ type: 'compaction', content, encrypted_content: 'E', signature: 'S' })
  const { messages } = parse({
    messages: [
      { role: 'assistant', content: [compaction('They planned a trip.'), compaction(null)] },
      { role: 'user', content: 'Where to?' },
    ],
  })
  expect(messages[0]?.parts).toEqual([
    { type: 'text', text: 'They planned a trip.' },
    { type: 'unknown', kind: 'compaction', at: 'messages[0].content[1]' },
  ])
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
          { ...document({ type: 'url', url: 'https://example.com/b.pdf' }), context: 'From 2024.' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
    ],
  })
  expect(messages.map(({ parts }) => parts)).toEqual([
    [{ type: 'text', text: 'Be brief.' }],
    [
      { type: 'image', url: 'https://example.com/a.png' },
      { type: 'unknown', kind: 'image', at: 'messages[0].content[1].source', content: true, fileId: 'file_1' },
      { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', filename: 'Report' },
      { type: 'file', url: 'https://example.com/a.pdf', filename: 'Report' },
      { type: 'text', text: 'Report' },
      { type: 'text', text: 'plain' },
      { type: 'text', text: 'Report' },
      { type: 'text', text: 'inner' },
      { type: 'unknown', kind: 'hologram', at: 'messages[0].content[6]', content: true },
      { type: 'text', text: 'From 2024.' },
      { type: 'file', url: 'https://example.com/b.pdf', filename: 'Report' },
    ],
    [{ type: 'tool-result', callId: 'toolu_1', text: '' }],
  ])
})

test('cache marks, sources of a text, and wishes that only this dialect can grant', () => {
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const found = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'a', encrypted_index: 'x' }
  const { messages, tools } = parse({
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'A', citations: [found, { type: 'page_location', document_index: 0 }], ...mark },
          { type: 'tool_use', id: 't1', name: 'f', input: {}, ...mark },
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't1',
            content: [
              { type: 'text', text: 'r' },
              { type: 'tool_reference', tool_name: 'g' },
            ],
            ...mark,
          },
          { type: 'document', source: { type: 'url', url: 'https://a.example/f.pdf' }, citations: { enabled: true } },
          { type: 'search_result', title: 'T', source: 'https://s.example', content: [{ type: 'text', text: 'found' }] },
        ],
      },
    ],
    tools: [{ name: 'f', input_schema: {}, strict: true, ...mark }],
  })
  const cache = { ttl: '1h' as const }
  expect(messages.map(({ parts }) => parts)).toEqual([
    [
      { type: 'text', text: 'A', annotations: [{ url: 'https://a.example', title: 'A', content: 'a', start: null, end: null }], cache },
      { type: 'unknown', kind: 'page_location', at: 'messages[0].content[0].citations[1]' },
      { type: 'tool-call', id: 't1', name: 'f', arguments: '{}', cache },
      { type: 'unknown', kind: 'server_tool_use', at: 'messages[0].content[2]', content: true },
    ],
    [
      {
        type: 'tool-result',
        callId: 't1',
        text: 'r\nThe tool g was found. It is in your list now.',
        pieces: [
          { type: 'text', text: 'r' },
          { type: 'text', text: 'The tool g was found. It is in your list now.' },
        ],
        cache,
      },
      { type: 'file', url: 'https://a.example/f.pdf', filename: null },
      { type: 'unknown', kind: 'citations', at: 'messages[1].content[1].citations' },
      { type: 'text', text: 'T\nhttps://s.example\nfound' },
    ],
  ])
  expect(tools).toEqual([{ type: 'function', name: 'f', description: null, parameters: {}, strict: true, cache }])
})

test('a sealed proof is opened, and one that bears the id of a call is the call’s', () => {
  const openai = { format: 'openai-responses-v1', kind: 'encrypted', data: 'x', id: 'rs_1' } as const
  const google = { format: 'google-gemini-v1', kind: 'signature', data: 'g' } as const
  const content = [
    { type: 'thinking', thinking: 't', signature: sealProof(openai) },
    { type: 'thinking', thinking: 'no proof', signature: '' },
    { type: 'thinking', thinking: 'said to be unsigned', signature: UNSIGNED },
    { type: 'redacted_thinking', data: sealProof(openai) },
    { type: 'redacted_thinking', data: sealProof({ ...google, id: 't1' }) },
    { type: 'tool_use', id: 't1', name: 'f', input: {} },
  ]
  expect(parse({ messages: [{ role: 'assistant', content }] }).messages[0]?.parts).toEqual([
    { type: 'reasoning', text: 't', proof: openai },
    { type: 'reasoning', text: 'no proof' },
    { type: 'reasoning', text: 'said to be unsigned' },
    { type: 'reasoning', text: '', proof: openai },
    { type: 'tool-call', id: 't1', name: 'f', arguments: '{}', proof: google },
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
