import { describe, expect, test } from 'bun:test'

import { atOnce } from '../../lib/steps.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Warning } from '../../canonical/warning.ts'
import { messagesFormat } from '../../formats/anthropic-messages/anthropic-messages.ts'
import type { ClientFormat } from '../../formats/format.ts'
import { chatFormat } from '../../formats/openai-chat/openai-chat.ts'
import { responsesFormat } from '../../formats/openai-responses/openai-responses.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { encodeConverseRequest } from './encode.ts'
import { encode, talk, targetOf, type Sent } from './encode.test-kit.ts'

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const PDF = 'data:application/pdf;base64,JVBERi0='
describe('turns', () => {
  test('alternate: neighbours of one role are merged, and empty ones are dropped', () => {
    const { sent, reported } = encode({
      messages: talk(['user', 'a'], ['user', 'b'], ['assistant', ''], ['user', 'c'], ['assistant', 'd'], ['assistant', 'e']),
    })
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] },
      { role: 'assistant', content: [{ text: 'd' }, { text: 'e' }] },
    ])
    expect(reported).toEqual([])
  })

  test('the system prompt is what stands at the beginning; later words of it keep their place', () => {
    const { sent, reported } = encode({
      messages: talk(['system', 's'], ['developer', 'd'], ['user', 'a'], ['system', 'late'], ['assistant', 'b']),
    })
    expect(sent.system).toEqual([{ text: 's' }, { text: 'd' }])
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'late' }] },
      { role: 'assistant', content: [{ text: 'b' }] },
    ])
    expect(reported).toEqual(['mapped_field messages[3]'])
  })

  test('a system prompt alone becomes something to answer', () => {
    const { sent, reported } = encode({ messages: talk(['system', 's']) })
    expect(sent).toEqual({ messages: [{ role: 'user', content: [{ text: 's' }] }] })
    expect(reported).toEqual(['mapped_field messages[0]'])
  })

  test('names of speakers, sources and unknown parts cause warnings', () => {
    const annotations = [{ url: 'https://a.example', title: null, content: null, start: 0, end: 1 }]
    const { reported } = encode({
      messages: [
        { role: 'user', at: 'messages[0]', name: 'Ann', parts: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', at: 'messages[1]', parts: [{ type: 'text', text: 'b', annotations }] },
        {
          role: 'user',
          at: 'messages[2]',
          parts: [
            { type: 'text', text: 'c' },
            { type: 'unknown', kind: 'citations', at: 'messages[2].content[0]' },
          ],
        },
      ],
    })
    expect(reported).toEqual([
      'unsupported_field messages[0].name',
      'unsupported_field messages[1]',
      'unsupported_field messages[2].content[0]',
    ])
  })

  test('a refusal of an earlier turn is what the assistant said', () => {
    const { sent } = encode({ messages: talk(['user', 'a'], ['assistant', { type: 'refusal', text: 'No.' }], ['user', 'b']) })
    expect(sent.messages[1]).toEqual({ role: 'assistant', content: [{ text: 'No.' }] })
  })

  test('a longer conversation begins with the same bytes', () => {
    const first = talk(['system', 's'], ['user', 'a', { type: 'file', url: PDF, filename: 'x.pdf' }], ['assistant', 'b'])
    const { text } = encode({ messages: [...first, ...talk(['user', 'c'])] })
    const longer = encode({ messages: [...first, ...talk(['user', 'c'], ['assistant', 'd'], ['user', 'e'])] }).text
    expect(longer.startsWith(text.slice(0, -2))).toBe(true)
  })
})

test.each<[ClientDialect, ClientFormat, object]>([
  [
    'chat',
    chatFormat,
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Weather?' },
            { type: 'image_url', image_url: { url: PNG } },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'Rain' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      max_tokens: 50,
    },
  ],
  [
    'responses',
    responsesFormat,
    {
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Weather?' },
            { type: 'input_image', image_url: PNG, detail: 'auto' },
          ],
        },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'Rain' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      max_output_tokens: 50,
    },
  ],
  [
    'messages',
    messagesFormat,
    {
      system: 'Be brief.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Weather?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Rain' }] },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      max_tokens: 50,
    },
  ],
])('a request of %s arrives with nothing lost', (_, format, body) => {
  const warnings: Warning[] = []
  const { call } = atOnce(format.parseCall(JsonBody.read(JSON.stringify({ model: 'bedrock/it', ...body }))))
  const text = atOnce(
    encodeConverseRequest({
      call,
      target: targetOf(),
      number: 0,
      warn: (warning) => warnings.push(warning),
      connection: new AbortController(),
    }),
  )
  expect(JSON.parse(text) as Sent).toEqual({
    system: [{ text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ text: 'Weather?' }, { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'f', input: { a: 1 } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'Rain' }] } }] },
    ],
    toolConfig: { tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }] },
    inferenceConfig: { maxTokens: 50 },
  })
  expect(warnings).toEqual([])
})
