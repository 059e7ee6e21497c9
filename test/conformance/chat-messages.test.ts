/** Messages of a chat client in the form that vendors of Chat Completions accept, whether relayed or translated. */
import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { atOnce } from '../../src/lib/steps.ts'
import type { Call } from '../../src/canonical/call.ts'
import type { Warning } from '../../src/canonical/warning.ts'
import { GatewayError } from '../../src/errors.ts'
import { chatFormat } from '../../src/formats/openai-chat/openai-chat.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { encodeChatRequest } from '../../src/providers/openai-chat/encode.ts'
import type { Target } from '../../src/providers/provider.ts'

type Json = Readonly<Record<string, unknown>>

interface Sent {
  readonly text: string
  readonly messages: readonly Json[]
  readonly body: Json
  readonly reported: readonly Warning[]
}

const LANES = ['relayed', 'translated'] as const

const send = (lane: (typeof LANES)[number], vendor: string, request: object, more: Partial<Target> = {}): Sent => {
  const { call } = atOnce(chatFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', ...request }))))
  // The same conversation from a client of another interface.
  return sendCall(lane === 'relayed' ? call : { ...call, dialect: 'responses' }, vendor, more)
}

const sendCall = (call: Call, provider: string, more: Partial<Target> = {}): Sent => {
  const target = {
    baseUrl: 'https://x',
    apiKey: null,
    modelId: 'a/b',
    upstreamModel: 'b',
    maxCompletionTokens: null,
    providerName: provider,
  }
  const reported: Warning[] = []
  const text = atOnce(
    encodeChatRequest({
      call,
      target: { ...target, provider, ...more },
      number: 0,
      warn: (warning) => reported.push(warning),
      connection: new AbortController(),
    }),
  )
  const body = JSON.parse(text) as Json
  return { text, body, messages: body['messages'] as Json[], reported }
}

const USER = { role: 'user', content: 'Hi' }
const call = (id: string, args = '{}'): object => ({ id, type: 'function', function: { name: 'look', arguments: args } })
const calling = (...calls: readonly object[]): object => ({ role: 'assistant', content: null, tool_calls: calls })
const result = (id: string, content: unknown = 'fog'): object => ({ role: 'tool', tool_call_id: id, content })
const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : [])

interface Rules {
  readonly named: readonly string[] | 'any'
  /** The roles whose content may be a list of texts. */
  readonly lists: readonly string[] | 'any'
  readonly customTools?: true
  readonly mediaOfTools?: true
  readonly id?: RegExp
  readonly strictOrder?: true
  readonly files?: 'data' | 'document_url'
}

/** The rules in the vendors' documentation and error messages. */
const RULES: Readonly<Record<string, Rules>> = {
  openai: { named: 'any', lists: 'any', customTools: true, id: /^[\s\S]{1,40}$/, files: 'data' },
  openrouter: { named: 'any', lists: 'any', mediaOfTools: true },
  groq: { named: [], lists: ['user'] },
  mistral: { named: ['tool'], lists: 'any', id: /^[a-zA-Z0-9]{9}$/, strictOrder: true, files: 'document_url' },
  xai: { named: ['user'], lists: 'any' },
  cerebras: { named: [], lists: ['user'] },
  deepseek: { named: 'any', lists: [] },
  moonshot: { named: 'any', lists: 'any' },
  vllm: { named: 'any', lists: 'any' },
}

/** The reasons why a vendor would refuse the messages. */
const refusals = (messages: readonly Json[], rules: Rules): string[] => {
  const found: string[] = []
  const ids = new Set<unknown>()
  let waiting = new Set<unknown>()
  let before: unknown = null
  for (const message of messages) {
    const { role, content = null, name, tool_calls: calls, tool_call_id: answered } = message
    if (role === 'tool') {
      if (!waiting.delete(answered)) found.push('a result without a call before it')
    } else if (waiting.size > 0) found.push('a call without a result behind it')
    if (rules.strictOrder && before === 'tool' && role !== 'tool' && role !== 'assistant') found.push(`${String(role)} after tool`)
    if (rules.strictOrder && before === 'assistant' && role === 'system') found.push('system after assistant')
    if (name !== undefined && rules.named !== 'any' && !rules.named.includes(String(role))) found.push(`a name of ${String(role)}`)
    if (Array.isArray(calls) && calls.length === 0) found.push('an empty list of calls')
    if (role === 'assistant' && content === null && calls === undefined) found.push('an assistant that says nothing')
    if (Array.isArray(content) && rules.lists !== 'any' && !rules.lists.includes(String(role)) && listOf(content).every(isText))
      found.push(`a list of texts of ${String(role)}`)
    if (role === 'tool' && content === null) found.push('a result of null')
    if (role === 'tool' && rules.mediaOfTools !== true && !listOf(content).every(isText)) found.push('media in a result')
    for (const { type, file } of listOf(content)) {
      if (type === 'file' && rules.files === 'document_url') found.push('a file part')
      if (type === 'file' && rules.files === 'data' && String((file as Json)['file_data']).startsWith('http'))
        found.push('a file by address')
    }
    if (role !== 'tool') waiting = new Set()
    for (const { id, type, function: called } of listOf(calls)) {
      if (ids.has(id)) found.push('an id twice')
      ids.add(id)
      waiting.add(id)
      if (rules.id?.test(String(id)) === false) found.push('an id of another form')
      if (type === 'custom') {
        if (rules.customTools !== true) found.push('a custom call')
      } else if (!isObjectText((called as Json)['arguments'])) found.push('arguments that are no object')
    }
    before = role
  }
  if (waiting.size > 0) found.push('a call without a result at the end')
  const last = messages.at(-1)
  if (rules.strictOrder && last?.['role'] === 'system') found.push('system at the end')
  if (rules.strictOrder && last?.['role'] === 'assistant' && last['prefix'] !== true && last['tool_calls'] === undefined)
    found.push('assistant at the end')
  return found
}

const isText = ({ type }: Json): boolean => type === 'text'

const isObjectText = (text: unknown): boolean => {
  try {
    const value: unknown = JSON.parse(String(text))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Programs that restart their numbering use few ids many times. */
const anyId = fc.constantFrom('a', 'b', 'call_1', 'abcDEF123', 'x'.repeat(50))
const said = fc.integer({ min: 0, max: 9999 }).map((number) => `said-${number}.`)
const texts = fc.array(said, { minLength: 1, maxLength: 3 }).map((all) => all.map((text) => ({ type: 'text', text })))
const named = fc.option(fc.constant('Ada'), { nil: undefined })
const anyCall = fc.oneof(
  fc.tuple(anyId, fc.constantFrom('{}', '{"a":1}', '', '{"at":', '[1]')).map(([id, args]) => call(id, args)),
  anyId.map((id) => ({ id, type: 'custom', custom: { name: 'edit', input: 'any "text"' } })),
)
const anyMessage = fc.oneof(
  fc.record(
    { role: fc.constantFrom('system', 'developer', 'user'), content: fc.oneof(said, texts), name: named },
    { requiredKeys: ['role', 'content'] },
  ),
  texts.map((parts) => ({ role: 'user', content: [...parts, PICTURE] })),
  fc.record(
    {
      role: fc.constant('assistant'),
      content: fc.option(fc.oneof(said, texts)),
      tool_calls: fc.array(anyCall, { maxLength: 3 }),
      name: named,
    },
    { requiredKeys: ['role', 'content'] },
  ),
  fc
    .tuple(
      anyId,
      fc.oneof(
        said,
        texts,
        texts.map((parts) => [...parts, PICTURE]),
        fc.constant([PICTURE]),
        fc.constant(null),
      ),
    )
    .map(([id, content]) => result(id, content)),
)
/** Some programs write the members of an object in the order of their names. */
const byName = (message: object): object => Object.fromEntries(Object.entries(message).toSorted(([one], [other]) => (one < other ? -1 : 1)))
const histories = fc
  .tuple(fc.array(anyMessage, { maxLength: 10 }), fc.boolean())
  .map(([messages, isByName]) => [USER, ...messages].map((message) => (isByName ? byName(message) : message)))

describe('whatever history an agent sends', () => {
  for (const lane of LANES) {
    test.each(Object.entries(RULES))(`%s takes it ${lane}, and nothing that was said is lost`, (vendor, rules) => {
      fc.assert(
        fc.property(histories, (messages) => {
          const sent = send(lane, vendor, { messages })
          expect(refusals(sent.messages, rules)).toEqual([])
          for (const [text] of JSON.stringify(messages).matchAll(/said-\d+\./g)) expect(sent.text).toContain(text)
        }),
        { numRuns: 120 },
      )
    })
  }

  test('of an unknown server is its own affair', () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const { call: asked } = atOnce(chatFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', messages }))))
        expect(sendCall(asked, 'own').messages).toEqual(messages as Json[])
      }),
      { numRuns: 50 },
    )
  })
})

test.each(['{"a":1}{"b":2}', '{"a":1}\n{"b":2}', '{a:1}', '{"a":1,}', '{"at":', '[1]'])(
  'the arguments %s in a history that is in order otherwise are an empty object for every known vendor, and that is told',
  (args) => {
    for (const vendor of Object.keys(RULES))
      for (const lane of LANES) {
        const { messages, reported } = send(lane, vendor, { messages: [USER, calling(call('abcDEF123', args)), result('abcDEF123')] })
        expect(listOf(messages[1]?.['tool_calls'])[0]?.['function']).toEqual({ name: 'look', arguments: '{}' })
        expect(reported.map(({ code }) => code)).toContain('mapped_field')
      }
  },
)

describe('a history in order', () => {
  const LAWFUL = [
    { role: 'system', content: 'Be brief.' },
    USER,
    calling(call('abcDEF123', '{ "at" : "Oslo" }'), call('abcDEF124')),
    result('abcDEF124'),
    result('abcDEF123'),
    { role: 'assistant', content: 'Fog.' },
    { role: 'user', content: [{ type: 'text', text: 'And now?' }, PICTURE] },
  ]

  test.each(Object.keys(RULES).filter((vendor) => !['deepseek', 'moonshot'].includes(vendor)))('goes to %s as it was written', (vendor) => {
    const written = JSON.stringify(LAWFUL)
      .replaceAll(':', ' : ')
      .replace('Hi', String.raw`H\u0069`)
    const { call: asked } = atOnce(chatFormat.parseCall(JsonBody.read(`{"model":"a/b","messages": ${written} }`)))
    const { text, reported } = sendCall(asked, vendor)
    expect(text).toContain(`"messages": ${written} }`)
    expect(reported).toEqual([])
  })

  test.each(['openai', 'azure', 'mistral', 'fireworks', 'vllm'])('is not parsed for %s where it is large', (vendor) => {
    const large = [...LAWFUL.slice(0, 6), { role: 'user', content: 'x'.repeat(100_000) }]
    const { call: asked } = atOnce(chatFormat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', messages: large }))))
    const { parse } = JSON
    const lengths: number[] = []
    JSON.parse = (text: string, ...rest) => {
      lengths.push(text.length)
      return parse(text, ...rest) as unknown
    }
    try {
      encodeChatRequest({
        call: asked,
        target: {
          provider: vendor,
          providerName: vendor,
          baseUrl: 'https://x',
          apiKey: null,
          modelId: 'a/b',
          upstreamModel: 'b',
          maxCompletionTokens: null,
        },
        number: 0,
        warn: () => undefined,
        connection: new AbortController(),
      })
    } finally {
      JSON.parse = parse
    }
    expect(lengths.filter((length) => length > 50_000)).toEqual([])
  })

  test('keeps the text of all that is in order where one call has no result', () => {
    const { text } = sendCall(
      atOnce(
        chatFormat.parseCall(
          JsonBody.read(
            `{"model":"a/b","messages":[{"role":"user","content":"H\\u0069"},${JSON.stringify(calling(call('a')))}, {"role":"user", "content":"Go on"}]}`,
          ),
        ),
      ).call,
      'openai',
    )
    expect(text).toContain(String.raw`{"role":"user","content":"H\u0069"}`)
    expect(text).toContain('{"role":"tool","tool_call_id":"a","content":"This call was not answered."}')
    expect(text).toContain('{"role":"user", "content":"Go on"}')
  })
})

for (const lane of LANES) {
  describe(lane, () => {
    test.each([
      ['groq', 'user', true],
      ['mistral', 'user', true],
      ['cerebras', 'user', true],
      ['xai', 'system', true],
      ['xai', 'user', false],
      ['openai', 'user', false],
      ['deepseek', 'user', false],
    ])('the name of a speaker goes to no vendor that refuses it: %s, %s', (vendor, role, refused) => {
      const { messages, reported } = send(lane, vendor, { messages: [{ role, content: 'Hi', name: 'Ada' }, USER] })
      expect(messages[0]?.['name']).toBe((refused ? undefined : 'Ada') as never)
      expect(reported.map(({ field }) => field)).toEqual(refused ? ['messages[0].name'] : [])
    })

    test('a file goes to Mistral as a document', () => {
      const file = { filename: 'f.pdf', file_data: 'https://a.example/f.pdf' }
      const { messages } = send(lane, 'mistral', { messages: [{ role: 'user', content: [{ type: 'file', file }] }] })
      expect(messages[0]?.['content']).toEqual([{ type: 'document_url', document_url: 'https://a.example/f.pdf', document_name: 'f.pdf' }])
    })

    test('data without a name gets one', () => {
      const file = { file_data: 'data:application/pdf;base64,AAAA' }
      const { messages } = send(lane, 'openai', { messages: [{ role: 'user', content: [{ type: 'file', file }] }] })
      expect(messages[0]?.['content']).toMatchObject([{ file: { filename: 'file.pdf', ...file } }])
    })

    test.each([
      ['openai', { file_data: 'https://a.example/f.pdf' }],
      ['mistral', { file_id: 'file_1' }],
      ['groq', { file_id: 'file_1' }],
    ])('400: a file that cannot be carried to %s is named', (vendor, file) => {
      const messages = [
        USER,
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'file', file },
          ],
        },
      ]
      expect(() => send(lane, vendor, { messages })).toThrow(GatewayError)
      expect(() => send(lane, vendor, { messages })).toThrow('messages[1]')
    })

    test.each([
      ['input_audio', { input_audio: { data: 'UklGRg==', format: 'wav' } }],
      ['video_url', { video_url: { url: 'https://a.example/v.mp4' } }],
    ])('400: %s for a model that is known not to take it is named', (type, part) => {
      const messages = [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type, ...part },
          ],
        },
      ]
      expect(() => send(lane, 'openrouter', { messages }, { inputModalities: ['text', 'image'] })).toThrow('messages[0]')
      expect(send(lane, 'openrouter', { messages }, { inputModalities: ['text', 'audio', 'video'] }).text).toContain(type)
    })

    test('calls with one id are told apart, each with its result', () => {
      const { messages } = send(lane, 'openai', {
        messages: [USER, calling(call('c', '{"a":1}'), call('c', '{"a":2}')), result('c', 'one'), result('c', 'two')],
      })
      expect(messages.slice(1)).toMatchObject([
        { tool_calls: [{ id: 'c' }, { id: 'c_2' }] },
        { tool_call_id: 'c', content: 'one' },
        { tool_call_id: 'c_2', content: 'two' },
      ])
    })

    test('a result of no call is what the user says, and a call without a result is told to the model', () => {
      const { messages, reported } = send(lane, 'openai', { messages: [USER, result('x', 'lost'), calling(call('a')), USER] })
      expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool', 'user'])
      expect(messages[1]).toEqual({ role: 'user', content: 'lost' })
      expect(reported.map(({ code }) => code)).toEqual(['mapped_field', 'mapped_field'])
    })

    test('a picture of a tool follows in what the user says', () => {
      const { messages } = send(lane, 'groq', {
        messages: [USER, calling(call('a')), result('a', [PICTURE]), { role: 'user', content: 'Well?' }],
      })
      expect(messages.slice(2)).toEqual([
        { role: 'tool', tool_call_id: 'a', content: 'What the tool look returned follows in the next message.' },
        { role: 'user', content: [{ type: 'text', text: 'Returned by the tool look:' }, PICTURE, { type: 'text', text: 'Well?' }] },
      ])
    })

    test.each(['deepseek', 'moonshot', 'zai', 'groq', 'vllm', 'alibaba'])('a refusal of an earlier answer is words for %s', (vendor) => {
      const { messages } = send(lane, vendor, {
        messages: [
          USER,
          { role: 'assistant', content: null, refusal: 'I will not.' },
          USER,
          { role: 'assistant', content: 'No.', refusal: 'I will not.' },
          USER,
        ],
      })
      expect([1, 3].map((place) => messages[place]?.['refusal'])).toEqual([undefined, undefined])
      expect(messages[1]?.['content']).toBe('I will not.')
      expect(JSON.stringify(messages[3]?.['content'])).toMatch(/No\..*I will not\./)
    })

    test('a turn with an empty refusal alone says nothing', () => {
      const { messages } = send(lane, 'zai', { messages: [USER, { role: 'assistant', content: null, refusal: '' }, USER] })
      expect(messages).toEqual([USER, USER])
    })

    test('Mistral gets a short turn of the assistant between a tool and the user, and words of the system as the user’s', () => {
      const { messages, reported } = send(lane, 'mistral', {
        messages: [
          USER,
          calling(call('abcDEF123')),
          result('abcDEF123'),
          { role: 'system', content: 'Mind.' },
          { role: 'user', content: 'Stop' },
        ],
      })
      expect(messages.slice(3)).toEqual([
        { role: 'assistant', content: 'OK' },
        { role: 'user', content: 'Mind.' },
        { role: 'user', content: 'Stop' },
      ])
      expect(reported.map(({ field }) => field)).toEqual(['messages[3]', 'messages[3]'])
    })

    test('Mistral is told that the last words of the assistant begin the answer', () => {
      const { messages, reported } = send(lane, 'mistral', { messages: [USER, { role: 'assistant', content: 'Sure:' }] })
      expect(messages.at(-1)).toEqual({ role: 'assistant', content: 'Sure:', prefix: true })
      expect(reported).toEqual([])
    })

    test('marks of what to cache are breakpoints of OpenAI’s models that take them', () => {
      const text = { type: 'text', text: 'Long.' }
      const marked = [{ role: 'system', content: [{ ...text, cache_control: { type: 'ephemeral' } }] }, USER]
      const { messages, reported } = send(lane, 'openai', { messages: marked }, { upstreamModel: 'gpt-5.6-sol' })
      expect(messages[0]?.['content']).toEqual([{ ...text, prompt_cache_breakpoint: { mode: 'explicit' } }])
      expect(reported).toEqual([])
      const others = send(lane, 'groq', { messages: marked })
      expect(others.messages[0]).toEqual({ role: 'system', content: 'Long.' })
      expect(others.reported).toHaveLength(1)
    })

    test('a limit of output above the whole context of the model is held to it, and that is told', () => {
      const { body, reported } = send(lane, 'vllm', { messages: [USER], max_tokens: 500_000 }, { contextLength: 32_768 })
      expect([body['max_tokens'], reported.map(({ code, field }) => [code, field])]).toEqual([32_768, [['mapped_field', 'max_tokens']]])
    })

    test('a schema that OpenAI refuses goes out in a form that it takes, and that is told', () => {
      const parameters = { anyOf: [{ properties: { a: { type: 'array' } }, required: ['a'] }] }
      const tools = [{ type: 'function', function: { name: 'f', parameters } }]
      const { body, reported } = send(lane, 'openai', { messages: [USER], tools })
      expect(body['tools']).toMatchObject([
        { function: { parameters: { type: 'object', properties: { a: { type: 'array', items: {} } }, required: ['a'] } } },
      ])
      expect(JSON.stringify(listOf(body['tools'])[0])).not.toContain('"anyOf":[{"properties"')
      expect(reported.map(({ code, field }) => [code, field])).toEqual([['mapped_field', 'tools[0]']])
    })
  })
}
