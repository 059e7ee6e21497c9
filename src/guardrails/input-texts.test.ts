import { describe, expect, test } from 'bun:test'

import { JsonBody } from '../lib/json-body.ts'
import { inputTexts } from './input-texts.ts'

const textsOf = (body: unknown): string[] =>
  inputTexts(JsonBody.read(typeof body === 'string' ? body : JSON.stringify(body))).texts.map(({ value }) => value)
const byUser = (body: unknown): string[] =>
  inputTexts(JsonBody.read(JSON.stringify(body)))
    .texts.filter((text) => text.byUser)
    .map(({ value }) => value)

describe('everything that a model reads is looked at', () => {
  test('chat: messages of every role, parts of every kind, calls and results, names', () => {
    expect(
      textsOf({
        model: 'm',
        user: 'jane@example.com',
        messages: [
          { role: 'system', content: 'one' },
          {
            role: 'user',
            name: 'two',
            content: [
              { type: 'text', text: 'three' },
              { type: 'novelty', payload: { deep: ['four'] } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            refusal: 'five',
            reasoning: 'six',
            tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":"seven"}' } }],
          },
          { role: 'tool', tool_call_id: 'x', content: 'eight' },
        ],
        prediction: { type: 'content', content: 'nine' },
      }),
    ).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'f', '{"a":"seven"}', 'eight', 'nine'])
  })

  test('messages: system as text or blocks, tool input as an object with numbers and names, results', () => {
    expect(
      textsOf({
        system: [{ type: 'text', text: 'one' }],
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'x', name: 'f', input: { card: 4111111111111111, 'jane@example.com': 'two' } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: [{ type: 'text', text: 'three' }] }] },
        ],
      }),
    ).toEqual(['f', '4111111111111111', 'jane@example.com', 'two', 'three', 'one'])
  })

  test('responses: instructions, text input, items; embeddings and prompts', () => {
    expect(textsOf({ instructions: 'one', input: 'two' })).toEqual(['two', 'one'])
    expect(
      textsOf({
        input: [
          { type: 'function_call_output', call_id: 'x', output: 'one' },
          { role: 'user', content: [{ type: 'input_text', text: 'two' }] },
        ],
      }),
    ).toEqual(['one', 'two'])
    expect(textsOf({ input: ['one', 'two'] })).toEqual(['one', 'two'])
    expect(textsOf({ prompt: 'one' })).toEqual(['one'])
  })

  test('of tools and schemas, what describes them', () => {
    expect(
      textsOf({
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              description: 'one',
              parameters: { properties: { a: { type: 'string', description: 'two', enum: ['x'] } } },
            },
          },
        ],
        response_format: { type: 'json_schema', json_schema: { schema: { description: 'three' } } },
      }),
    ).toEqual(['one', 'two', 'three'])
  })

  test('but not pictures and other bytes, where text may not stand', () => {
    const bytes = 'QUJD'.repeat(100)
    expect(
      textsOf({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } },
              { type: 'document', source: { type: 'text', data: 'plain text' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes } },
              { type: 'text', text: `data:image/png;base64,${bytes}` },
            ],
          },
        ],
      }),
    ).toEqual(['plain text', `data:image/png;base64,${bytes}`])
  })
})

describe('what the user himself says', () => {
  test('is told from what system, model and tools say, also where the role comes last or is written with escapes', () => {
    expect(
      byUser({
        messages: [
          { content: 'one', role: 'user' },
          { role: 'assistant', content: 'no' },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'x', content: 'no' },
              { type: 'text', text: 'two' },
            ],
          },
          { role: 'tool', tool_call_id: 'x', content: 'no' },
        ],
        system: 'no',
      }),
    ).toEqual(['one', 'two'])
    const escaped = inputTexts(JsonBody.read(String.raw`{"messages":[{"\u0072ole":"us\u0065r","content":"one"}]}`))
    expect(escaped.texts).toMatchObject([{ value: 'one', byUser: true }])
  })

  test('includes a text input, strings of an input, and prompts', () => {
    expect(byUser({ input: 'one', instructions: 'no' })).toEqual(['one'])
    expect(byUser({ input: ['one'] })).toEqual(['one'])
    expect(byUser({ prompt: 'one' })).toEqual(['one'])
  })
})

describe('replacing', () => {
  test('touches no byte beside the text: spaces, escapes, number forms and order stay', () => {
    const body = String.raw`{ "seed" : 1.50e1,"messages":[ {"role":"user", "content":"a\u0041b"} ,{"content" : "jane", "role":"\u0075ser"}],"x": [1.0] }`
    const { texts, replace } = inputTexts(JsonBody.read(body))
    const index = texts.findIndex(({ value }) => value === 'jane')
    expect(replace(new Map([[index, 'a "quote"']])).text).toBe(body.replace('"jane"', String.raw`"a \"quote\""`))
  })

  test('several at once, numbers and names of members too', () => {
    const body = '{"messages":[{"role":"assistant","content":[{"input":{"a@b.io":4111111111111111}}]}],"system":"s"}'
    const { texts, replace } = inputTexts(JsonBody.read(body))
    expect(texts.map(({ value }) => value)).toEqual(['a@b.io', '4111111111111111', 's'])
    expect(
      replace(
        new Map([
          [0, '[EMAIL]'],
          [1, '[CREDIT_CARD]'],
          [2, 't'],
        ]),
      ).text,
    ).toBe('{"messages":[{"role":"assistant","content":[{"input":{"[EMAIL]":"[CREDIT_CARD]"}}]}],"system":"t"}')
  })
})
