import { describe, expect, test } from 'bun:test'

import type { Call, ClientDialect } from '../canonical/call.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { readCall as readMessages } from './anthropic-messages/read-call.ts'
import { chatFormat } from './openai-chat/openai-chat.ts'
import { readCall as readChat } from './openai-chat/read-call.ts'
import { readCall as readResponses } from './openai-responses/read-call.ts'
import { firstFault } from './first-fault.test-kit.ts'
import { atOnce } from '../lib/steps.ts'

const READERS = { chat: readChat, responses: readResponses, messages: readMessages }
const DIALECTS = ['chat', 'responses', 'messages'] as const
const LIMIT = { chat: 'max_completion_tokens', responses: 'max_output_tokens', messages: 'max_tokens' } as const

const read = (dialect: ClientDialect, body: object): Call => READERS[dialect](JsonBody.read(JSON.stringify(body)))
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const INPUT = { messages: MESSAGES, input: 'Hi' }

describe.each(DIALECTS)('%s', (dialect) => {
  test('names what routing, limits and records need', () => {
    const call = read(dialect, {
      ...INPUT,
      model: 'a/b',
      models: ['a/b', 'c/d', 'e/f', 'c/d'],
      stream: true,
      [LIMIT[dialect]]: 50,
      session_id: 's',
      user: 'u',
    })
    expect(call).toMatchObject({ dialect, models: ['a/b', 'c/d', 'e/f'], stream: true, maxOutputTokens: 50, sessionId: 's', user: 'u' })
  })

  test('what is absent or null is left open', () => {
    const open = { models: ['a/b'], stream: false, maxOutputTokens: null, sessionId: null, user: null }
    expect(read(dialect, { ...INPUT, model: 'a/b' })).toMatchObject(open)
    expect(
      read(dialect, { ...INPUT, model: 'a/b', models: null, stream: null, [LIMIT[dialect]]: null, session_id: null, user: null }),
    ).toMatchObject(open)
  })

  test('models alone will do', () => {
    expect(read(dialect, { ...INPUT, models: ['a/b', 'c/d'] }).models).toEqual(['a/b', 'c/d'])
  })

  test('the conversation is parsed when first asked for, and once', () => {
    const call = read(dialect, { ...INPUT, model: 'a/b' })
    expect(call.prompt().messages).toMatchObject([{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }])
    expect(call.prompt()).toBe(call.prompt())
  })

  test('invalid JSON deep in a large conversation is invalid_request, not a failure of ours', () => {
    const long = `"${'x'.repeat(40_000)}\\q"`
    const call = READERS[dialect](JsonBody.read(`{"model":"a/b","input":${long},"messages":[${long}]}`))
    expect(() => call.prompt()).toThrow(expect.objectContaining({ type: 'invalid_request' }))
  })

  test('a malformed conversation is found when it is asked for, each time', () => {
    const call = read(dialect, { model: 'a/b', messages: [{ role: 'user' }], input: [{ role: 'user' }] })
    expect(firstFault(() => call.prompt())[0]).toBe('invalid_prompt')
    expect(firstFault(() => call.prompt())[0]).toBe('invalid_prompt')
  })

  test('an empty `user` or `session_id` counts as absent', () => {
    expect(read(dialect, { ...INPUT, model: 'a/b', user: '', session_id: '' })).toMatchObject({ user: null, sessionId: null })
  })

  test.each<[string, object]>([
    ['model', {}],
    ['model', { model: null, models: [] }],
    ['model', { model: 7 }],
    ['model', { model: '' }],
    ['models', { model: 'a/b', models: 'c/d' }],
    ['models[1]', { model: 'a/b', models: ['c/d', 7] }],
    ['stream', { model: 'a/b', stream: 'yes' }],
    ['session_id', { model: 'a/b', session_id: 7 }],
    ['user', { model: 'a/b', user: {} }],
    [LIMIT[dialect], { model: 'a/b', [LIMIT[dialect]]: dialect === 'messages' ? -1 : 0 }],
    [LIMIT[dialect], { model: 'a/b', [LIMIT[dialect]]: 1.5 }],
    [LIMIT[dialect], { model: 'a/b', [LIMIT[dialect]]: '9' }],
  ])('invalid_request: %s in %j', (path, body) => {
    expect(firstFault(() => read(dialect, { ...INPUT, ...body }))).toEqual(['invalid_request', path])
  })
})

describe.each(DIALECTS)('%s: a conversation that says nothing is refused by the name of its field', (dialect) => {
  const field = dialect === 'responses' ? 'input' : 'messages'
  const fault = (conversation: unknown) => firstFault(() => read(dialect, { model: 'a/b', [field]: conversation }))
  const text = (type: string, text: string) => ({ role: 'user', content: [{ type, text }] })

  test.each<[unknown]>([
    [undefined],
    [null],
    [[]],
    [[{ role: 'user', content: '' }]],
    [[{ role: 'user', content: [] }]],
    [[text('text', '')]],
    [[text('input_text', '')]],
    [[{ role: 'system', content: '' }]],
    [
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '' },
      ],
    ],
    [
      [
        { role: 'user', content: '' },
        { role: 'assistant', content: null, tool_calls: [], id: 'm', status: 'completed' },
        { type: 'message', role: 'user', content: '' },
      ],
    ],
    [{}],
    [7],
  ])('%j', (conversation) => {
    expect(fault(conversation)).toEqual(['invalid_request', field])
  })

  test.each<[unknown]>([
    [[{ role: 'user', content: ' ' }]],
    [[{ role: 'user', content: '' }, text('text', 'Hi')]],
    [[{ role: 'system', content: 'Be brief.' }]],
    [[{ role: 'assistant', content: '', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }]],
    [[{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }] }]],
    [[{ type: 'function_call_output', call_id: 'c', output: '' }]],
    [[{ role: 'tool', tool_call_id: 'c', content: '' }]],
  ])('but not %j', (conversation) => {
    expect(read(dialect, { model: 'a/b', [field]: conversation }).models).toEqual(['a/b'])
  })
})

test('responses: an empty text is no input; a text is', () => {
  expect(firstFault(() => read('responses', { model: 'a/b', input: '' }))).toEqual(['invalid_request', 'input'])
  expect(read('responses', { model: 'a/b', input: 'Hi' }).models).toEqual(['a/b'])
})

describe.each(['chat', 'messages'] as const)('%s', (dialect) => {
  test.each(['{}', '{"messages":null}', '{"messages":[]}', '{"messages":[ \n ]}', '{"messages":{}}', '{"messages":"Hi"}'])(
    'invalid_request: messages in %s',
    (text) => {
      const body = JsonBody.read(text.replace('{', '{"model":"a/b"').replace('"a/b""', '"a/b","'))
      expect(firstFault(() => READERS[dialect](body))).toEqual(['invalid_request', 'messages'])
    },
  )
})

test('chat: the newer name of the limit wins over the older one', () => {
  const body = { messages: MESSAGES, model: 'a/b', max_tokens: 10 }
  expect(read('chat', body).maxOutputTokens).toBe(10)
  expect(read('chat', { ...body, max_completion_tokens: 20 }).maxOutputTokens).toBe(20)
})

test('messages: fallbacks name further models', () => {
  const body = { messages: MESSAGES, model: 'a/b', fallbacks: [{ model: 'c/d' }, { model: 'a/b' }] }
  expect(read('messages', body).models).toEqual(['a/b', 'c/d'])
  expect(firstFault(() => read('messages', { ...body, fallbacks: ['c/d'] }))).toEqual(['invalid_request', 'fallbacks[0].model'])
  expect(firstFault(() => read('messages', { ...body, fallbacks: {} }))).toEqual(['invalid_request', 'fallbacks'])
})

test.each<[object, string]>([
  [{ provider: { ordr: ['a'] } }, 'provider.ordr: Unknown field. Did you mean "order"?'],
  [{ provider: { max_price: { promt: 1 } } }, 'provider.max_price.promt: Unknown field. Did you mean "prompt"?'],
  [{ provider: { sort: { byy: 'price' } } }, 'provider.sort.byy: Unknown field. Did you mean "by"?'],
])('an unknown member is reported with the nearest known one: %j', (fields, message) => {
  const body = JsonBody.read(JSON.stringify({ model: 'a/b', messages: MESSAGES, ...fields }))
  expect(() => atOnce(chatFormat.parseCall(body))).toThrow(message)
})
