/** Requests in the words of the clients of Mistral, Hugging Face, Groq and Perplexity reach every provider in its own words. */
import { describe, expect, test } from 'bun:test'

import { FORMATS } from '../../src/formats/formats.ts'
import { applyPreset } from '../../src/formats/apply-preset.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { atOnce, type Steps } from '../../src/lib/steps.ts'
import { encodeAnthropicRequest } from '../../src/providers/anthropic/encode.ts'
import { encodeChatRequest } from '../../src/providers/openai-chat/encode.ts'
import { encodeResponsesRequest } from '../../src/providers/openai-responses/encode.ts'
import type { Attempt } from '../../src/providers/provider.ts'
import { at } from '../support/json-at.ts'

const ENCODERS: Readonly<Record<string, (attempt: Attempt) => Steps<string>>> = {
  anthropic: encodeAnthropicRequest,
  'openai by Responses': encodeResponsesRequest,
}

interface Sent {
  readonly body: Readonly<Record<string, unknown>>
  readonly text: string
  readonly warnings: readonly string[]
}

const send = (provider: string, request: JsonBody): Sent => {
  const { call, warnings } = atOnce(FORMATS.chat.parseCall(request))
  const told = warnings.map(({ field }) => field)
  const [slug = ''] = provider.split(' ')
  const target = {
    provider: slug,
    providerName: slug,
    baseUrl: 'https://v.example',
    apiKey: 'k',
    modelId: 'a/b',
    upstreamModel: 'claude-x',
  }
  const attempt: Attempt = {
    call,
    target: { ...target, maxCompletionTokens: null },
    number: 0,
    warn: ({ field }) => void told.push(field),
    connection: new AbortController(),
  }
  const text = atOnce((ENCODERS[provider] ?? encodeChatRequest)(attempt))
  return { body: JSON.parse(text) as Sent['body'], text, warnings: told }
}

const ask = (provider: string, body: object): Sent =>
  send(provider, JsonBody.read(JSON.stringify({ model: 'a/b', messages: [{ role: 'user', content: 'Hi' }], ...body })))

const FUNCTION = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: { n: { type: 'integer' } } } }

describe('tools and choices without a type', () => {
  test.each(['openai', 'mistral', 'groq', 'acme', 'vllm'])('are whole for %s', (provider) => {
    for (const type of [{}, { type: null }]) {
      const { body, warnings } = ask(provider, {
        tools: [{ ...type, function: FUNCTION }],
        tool_choice: { ...type, function: { name: 'look' } },
      })
      expect(body['tools']).toEqual([{ type: 'function', function: FUNCTION }])
      expect(body['tool_choice']).toEqual({ type: 'function', function: { name: 'look' } })
      expect(warnings).toEqual([])
    }
  })

  test('are translated', () => {
    const untyped = { tools: [{ function: FUNCTION }], tool_choice: { function: { name: 'look' } } }
    expect(ask('anthropic', untyped).body).toMatchObject({ tools: [{ name: 'look' }], tool_choice: { type: 'tool', name: 'look' } })
    expect(ask('openai by Responses', untyped).body).toMatchObject({
      tools: [{ type: 'function', name: 'look' }],
      tool_choice: { type: 'function', name: 'look' },
    })
  })

  test('a tool that already has its type keeps its bytes beside one that has none', () => {
    const other = '{ "type":"function", "function":{"name":"other"} }'
    const { text } = send(
      'openai',
      JsonBody.read(`{"model":"a/b","messages":[{"role":"user","content":"Hi"}],"tools":[${other},{"function":{"name":"look"}}]}`),
    )
    expect(text).toContain(other)
  })

  test('400: a tool without a type and without a function', () => {
    expect(() => ask('mistral', { tools: [{ name: 'look' }] })).toThrow('tools[0].function')
    expect(() => ask('mistral', { tools: [{ function: {} }] })).toThrow('tools[0].function.name')
  })

  test('the choice any is required, for every provider', () => {
    const asked = { tools: [{ function: FUNCTION }], tool_choice: 'any' }
    expect(ask('mistral', asked).body['tool_choice']).toBe('required')
    expect(ask('acme', asked).body['tool_choice']).toBe('required')
    expect(ask('anthropic', asked).body['tool_choice']).toEqual({ type: 'any' })
  })
})

describe('tools without a type in a preset', () => {
  const saved = FORMATS.chat.presetContent({ tools: [{ function: FUNCTION }], tool_choice: { function: { name: 'look' } } })

  test('are kept as they were sent', () => {
    expect(saved).toMatchObject({ content: { config: { tools: [{ function: FUNCTION }] } }, warnings: [] })
  })

  test('are replaced by a tool of the request with the same name', () => {
    const request = JsonBody.read('{"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"look"}}]}')
    const { body } = atOnce(applyPreset('chat', request, saved.content, 'a/b'))
    expect(body.value('tools')).toEqual([{ type: 'function', function: { name: 'look' } }])
    expect(send('openai', body).body['tool_choice']).toEqual({ type: 'function', function: { name: 'look' } })
  })

  test('serve the other interfaces', () => {
    const request = JsonBody.read('{"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}')
    const { body } = atOnce(applyPreset('messages', request, saved.content, 'a/b'))
    expect(body.value('tools')).toMatchObject([{ name: 'look' }])
    expect(body.value('tool_choice')).toEqual({ type: 'tool', name: 'look' })
  })
})

describe('calls of earlier turns without a type, with arguments that are an object', () => {
  const history = (id: string): object => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [{ id, function: { name: 'look', arguments: { n: 1 } } }] },
      { role: 'tool', tool_call_id: id, content: 'x' },
    ],
    tools: [{ function: FUNCTION }],
  })

  // The second id is one that Mistral refuses, so that another rule changes the conversation too.
  for (const id of ['abcdefghi', 'call_0123456789']) {
    test.each(['openai', 'mistral', 'groq', 'vllm'])(`${id}: %s gets them whole`, (provider) => {
      const { body, warnings } = ask(provider, history(id))
      expect(at(body, 'messages', 1, 'tool_calls', 0)).toMatchObject({ type: 'function', function: { name: 'look', arguments: '{"n":1}' } })
      expect(warnings).toEqual([])
    })
  }

  test('they are translated', () => {
    expect(at(ask('anthropic', history('abcdefghi')).body, 'messages', 1, 'content', 0)).toMatchObject({ name: 'look', input: { n: 1 } })
  })

  test('a server of which nothing is known gets them as they are', () => {
    expect(at(ask('acme', history('abcdefghi')).body, 'messages')).toEqual(at(history('abcdefghi'), 'messages'))
  })
})

describe('pictures and documents in other forms', () => {
  const PDF = 'data:application/pdf;base64,JVBERi0='
  const WEB = 'https://a.example/a.pdf'
  const part = (provider: string, given: object): unknown =>
    at(ask(provider, { messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, given] }] }).body, 'messages', 0, 'content', 1)
  const document = (url: string): object => ({ type: 'document_url', document_url: url, document_name: 'a.pdf' })
  const file = (url: string): object => ({ type: 'file', file: { filename: 'a.pdf', file_data: url } })

  test.each<[string, string, object, object]>([
    [
      'a bare address',
      'openai',
      { type: 'image_url', image_url: 'https://a.example/a.png' },
      { type: 'image_url', image_url: { url: 'https://a.example/a.png' } },
    ],
    [
      'a bare address',
      'anthropic',
      { type: 'image_url', image_url: 'https://a.example/a.png' },
      { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } },
    ],
    [
      'a bare address of a film',
      'zai',
      { type: 'video_url', video_url: 'https://a.example/a.mp4' },
      { type: 'video_url', video_url: { url: 'https://a.example/a.mp4' } },
    ],
    ['Mistral’s document', 'openai', document(PDF), file(PDF)],
    ['Mistral’s document', 'openrouter', document(WEB), file(WEB)],
    ['Mistral’s document', 'mistral', document(WEB), document(WEB)],
    ['Mistral’s document', 'anthropic', document(WEB), { type: 'document', source: { type: 'url', url: WEB }, title: 'a.pdf' }],
    ['Mistral’s document', 'perplexity', document(PDF), { type: 'file_url', file_url: { url: 'JVBERi0=' }, file_name: 'a.pdf' }],
    ['Perplexity’s file', 'openai', { type: 'file_url', file_url: { url: 'JVBERi0=' }, file_name: 'a.pdf' }, file(PDF)],
    ['Perplexity’s file', 'openrouter', { type: 'file_url', file_url: WEB, file_name: 'a.pdf' }, file(WEB)],
    ['Perplexity’s file', 'mistral', { type: 'file_url', file_url: { url: WEB }, file_name: 'a.pdf' }, document(WEB)],
    ['Perplexity’s file', 'perplexity', { type: 'file_url', file_url: WEB }, { type: 'file_url', file_url: WEB }],
    ['OpenAI’s file', 'perplexity', file(PDF), { type: 'file_url', file_url: { url: 'JVBERi0=' }, file_name: 'a.pdf' }],
    // Their templates are the operator's own.
    ['any document', 'vllm', document(WEB), document(WEB)],
    ['any document', 'acme', document(WEB), document(WEB)],
  ])('%s for %s', (_, provider, given, expected) => {
    expect(part(provider, given)).toEqual(expected)
  })

  test('400: a document by its address, for a vendor that takes only data', () => {
    expect(() => part('openai', document(WEB))).toThrow('messages[0].content[1]')
  })

  test('400: an address in the account of the service', () => {
    expect(() => part('openrouter', document('gs://bucket/a.pdf'))).toThrow('messages[0].content[1]')
  })
})

describe('words for settings', () => {
  test('the place of a search is bare for Perplexity, as its own client writes it', () => {
    const place = { country: 'AT', city: 'Graz' }
    for (const user_location of [place, { type: 'approximate', approximate: place }]) {
      const asked = { web_search_options: { search_context_size: 'low', user_location } }
      expect(ask('perplexity', asked).body['web_search_options']).toEqual({ search_context_size: 'low', user_location: place })
    }
    const wrapped = { user_location: { type: 'approximate', approximate: place } }
    expect(ask('acme', { web_search_options: wrapped }).body['web_search_options']).toEqual(wrapped)
  })

  test.each([
    ['groq', 'on_demand', 'on_demand'],
    ['groq', 'default', 'on_demand'],
    ['openai', 'on_demand', 'default'],
    ['openai by Responses', 'on_demand', 'default'],
    ['anthropic', 'on_demand', 'standard_only'],
    ['acme', 'on_demand', 'on_demand'],
  ])('%s: the tier %s is %s', (provider, asked, sent) => {
    expect(ask(provider, { service_tier: asked })).toMatchObject({ body: { service_tier: sent }, warnings: [] })
  })

  test.each(['groq', 'acme', 'anthropic'])('%s: the effort default leaves it open', (provider) => {
    const { text, warnings } = ask(provider, { reasoning_effort: 'default', reasoning: { exclude: false } })
    expect(text).not.toContain('effort')
    expect(warnings).toEqual([])
  })

  test.each(['mistral', 'groq'])('%s, which stores nothing, gets no wish about it', (provider) => {
    expect(ask(provider, { store: false })).toMatchObject({ body: expect.not.objectContaining({ store: false }) as object, warnings: [] })
  })

  test.each(['openai', 'openai by Responses', 'mistral', 'acme'])('%s gets no null', (provider) => {
    const { text } = ask(provider, { tool_choice: null, store: null, temperature: null, response_format: null, user: null, n: null })
    expect(text).not.toContain('null')
  })
})
