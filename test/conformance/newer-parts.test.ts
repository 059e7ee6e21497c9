/** Parts of requests and answers that only the newest SDKs of the vendors have: none of them is refused, changed or lost silently. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import type { GuardrailPatch } from '../../src/contract/guardrail.ts'
import { readStream } from '../support/client-stream.ts'
import { guardrailWith } from '../support/guardrail.ts'
import { at } from '../support/json-at.ts'
import { question, replay, type Reply } from '../support/replay.ts'
import { recording } from '../support/recordings.ts'
import { reported, sentTo, whole } from '../support/upstream-replies.ts'

type Json = Readonly<Record<string, unknown>>

const OPENAI = { slug: 'openai', model: 'gpt-6.2-sol' } as const

/** The request that OpenAI gets, and the warnings of the client. */
const atOpenAi = async (client: 'chat' | 'responses', dialect: 'openai-chat' | 'openai-responses', more: Json): Promise<[Json, Json[]]> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const { sent, text } = await replay({
    client,
    upstreams: [{ dialect, reply, ...OPENAI }],
    body: { ...question(client, false), ...more },
    headers: { 'x-service-metadata': 'enabled' },
  })
  if (sent[0] === undefined) throw new Error(`Nothing was sent: ${text}`)
  return [JSON.parse(sent[0].body) as Json, (at(JSON.parse(text), 'service_metadata', 'warnings') ?? []) as Json[]]
}

describe('Responses: a tool and its choice reach OpenAI as they are', () => {
  const PICTURES = { type: 'image_generation', quality: 'xhigh', output_format: 'svg', svg: { model: 'gpt-6-astra' } }

  test.each<[string, Json]>([
    ['computer', { tools: [{ type: 'computer' }], tool_choice: { type: 'computer' } }],
    ['computer_use', { tools: [{ type: 'computer' }], tool_choice: { type: 'computer_use' } }],
    ['calls by a program', { tools: [{ type: 'programmatic_tool_calling' }], tool_choice: { type: 'programmatic_tool_calling' } }],
    ['words of a newer picture model', { tools: [PICTURES], tool_choice: { type: 'image_generation' } }],
  ])('%s', async (_, asked) => {
    const [body, warnings] = await atOpenAi('responses', 'openai-responses', asked)
    expect(body).toMatchObject(asked)
    expect(warnings).toEqual([])
  })

  test('a type that is newer than this release', async () => {
    const asked = { tools: [{ type: 'dream' }], tool_choice: { type: 'dream' } }
    const [body, warnings] = await atOpenAi('responses', 'openai-responses', asked)
    expect(body).toMatchObject(asked)
    expect(warnings).toMatchObject([{ field: 'tools[0].type' }])
  })

  test.each([
    [{ type: 'function' }, 'tool_choice.name'],
    [{ type: 'mcp' }, 'tool_choice.server_label'],
    [{ type: 'allowed_tools', tools: [] }, 'tool_choice.mode'],
    [{ type: 7 }, 'tool_choice.type'],
  ])('400: %j lacks a member, which the error names', async (choice, path) => {
    const refusal: unknown = await atOpenAi('responses', 'openai-responses', { tool_choice: choice }).catch((thrown: unknown) => thrown)
    expect(refusal).toMatchObject({ type: 'invalid_request', metadata: { issues: [{ path }] } })
  })
})

describe.each(['openai-chat', 'openai-responses'] as const)('the lifetime of a cache mark reaches %s', (dialect) => {
  const MARK = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }

  test.each([
    ['chat', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...MARK }] }] }],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi', ...MARK }] }] }],
  ] as const)('from %s', async (client, asked) => {
    const [body] = await atOpenAi(client, dialect, asked)
    expect(JSON.stringify(body)).toContain(JSON.stringify(MARK).slice(1, -1))
  })
})

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  usage: { input_tokens: 3, output_tokens: 2 },
}

const streamed = (item: Json): Reply =>
  reported(
    'openai-responses',
    { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] }, sequence_number: 0 },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' }, sequence_number: 1 },
    { type: 'response.output_item.done', output_index: 0, item, sequence_number: 2 },
    { type: 'response.completed', response: { ...RESPONSE, output: [item] }, sequence_number: 3 },
  )

describe('a part of an answer of OpenAI that another interface cannot have is reported', () => {
  const blocked = { code: 'moderation_blocked', message: 'No.', param: null, type: 'image_generation_error' }
  const ITEMS: readonly (readonly [string, Json])[] = [
    ['image_generation_call', { type: 'image_generation_call', id: 'ig_1', status: 'failed', result: null, error: blocked }],
    ['hologram', { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'hologram', data: 'x' }] }],
    ['content', { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ text: 'It has no type.' }] }],
  ]

  for (const [kind, item] of ITEMS)
    for (const client of CLIENT_DIALECTS.filter((each) => each !== 'responses'))
      test.each([true, false])(`${kind} to ${client}, stream: %p`, async (stream) => {
        const reply = stream ? streamed(item) : whole({ ...RESPONSE, output: [item] })
        const { text } = await replay({
          client,
          upstreams: [{ dialect: 'openai-responses', reply, ...OPENAI }],
          body: question(client, stream),
          headers: { 'x-service-metadata': 'enabled' },
        })
        if (stream) expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
        expect(text).toContain(`"The answer holds a part of type ${kind}, which could not be translated; it was left out."`)
      })
})

test('a drawing of OpenAI (svg) has its media type on Chat Completions, and goes back with it', async () => {
  const item = { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'svg', result: 'PHN2Zy8+' }
  const { text } = await replay({
    client: 'chat',
    upstreams: [{ dialect: 'openai-responses', reply: whole({ ...RESPONSE, output: [item] }), ...OPENAI }],
    body: question('chat', false),
  })
  expect(text).toContain('"data:image/svg+xml;base64,PHN2Zy8+"')
  const back = await sentTo('responses', 'openai-chat', {
    input: [{ role: 'user', content: 'Draw' }, item, { role: 'user', content: 'Go on' }],
  })
  expect(back.text).toContain('"data:image/svg+xml;base64,PHN2Zy8+"')
})

test.each([
  ['OpenAI’s own count', { web_search: { num_requests: 3 } }, 0.03],
  ['OpenAI’s own count, if it is none', { web_search: { num_requests: 0 } }, 0],
  ['the calls, if it has no count', { web_search: {} }, 0.01],
  ['the calls, if its count cannot be one', { web_search: { num_requests: -1 } }, 0.01],
])('searches are charged by %s', async (_, usage, cost) => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }
  const { text } = await replay({
    client: 'responses',
    upstreams: [{ dialect: 'openai-responses', reply: whole({ ...RESPONSE, output: [search], tool_usage: usage }), ...OPENAI }],
    body: { ...question('responses', false), tools: [{ type: 'web_search' }] },
    prices: { prompt: 0, completion: 0, web_search: 0.01 },
  })
  expect(at(JSON.parse(text), 'usage', 'cost')).toBeCloseTo(cost, 10)
})

test('Messages: a system message that is shown only until the next user message is not shown to another model after it', async () => {
  const reminder = (content: string): Json => ({ role: 'system', content, clear_at: 'next_user_message' })
  const messages = [
    { role: 'user', content: 'Hi' },
    reminder('The old word.'),
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Go on' },
    reminder('The new word.'),
  ]
  for (const dialect of ['openai-chat', 'openai-responses', 'google', 'bedrock'] as const) {
    const { text } = await sentTo('messages', dialect, { max_tokens: 100, messages })
    expect([text.includes('The old word.'), text.includes('The new word.')]).toEqual([false, true])
  }
})

test('400: a system message that is cleared adds a tool, which stays added and which another dialect has no word for', async () => {
  const added = { type: 'tool_addition', tools: [{ name: 'f', input_schema: { type: 'object' } }] }
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'system', content: [added, { type: 'text', text: 'Now.' }], clear_at: 'next_user_message' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Go on' },
  ]
  const asked = sentTo('messages', 'openai-chat', { max_tokens: 100, messages })
  expect(await asked.then(({ text }) => text, String)).toContain('tool_addition')
})

describe('Responses: an item of the input that changes the configuration', () => {
  const update = (more: Json): Json => ({ type: 'configuration_update', ...more })
  const format = { type: 'json_schema', name: 'out', schema: { type: 'object', properties: {}, additionalProperties: false } }
  const input = [
    { role: 'user', content: 'Hi' },
    update({ reasoning: { effort: 'high' }, text: { format } }),
    { role: 'assistant', content: 'Hello' },
    update({ reasoning: { effort: 'low' } }),
    { role: 'user', content: 'Go on' },
  ]

  test('reaches OpenAI as it is', async () => {
    const [body, warnings] = await atOpenAi('responses', 'openai-responses', { input, reasoning: { effort: 'medium' } })
    expect([body['input'], body['reasoning'], warnings]).toEqual([input, { effort: 'medium' }, []])
  })

  test('elsewhere the last one counts for the answer', async () => {
    const asked = { input, reasoning: { effort: 'medium' } }
    const { body, warnings } = await sentTo('responses', 'openai-chat', asked)
    expect([body['reasoning_effort'], at(body, 'response_format', 'type'), warnings]).toEqual(['low', 'json_schema', 0])
    expect(body['messages']).toHaveLength(3)
    const without = await sentTo('responses', 'openai-chat', { input })
    expect(without.body).toEqual(body)
  })

  test.each([
    ['takes the place of the request’s format', { text: { format } }, 'json_schema', 0],
    ['without a format leaves that of the request', { text: {} }, 'json_object', 0],
    ['with no format leaves that of the request', { text: { format: null } }, 'json_object', 0],
    ['is reported where it changes something else', { text: { verbosity: 'low' }, reasoning: { summary: 'auto' } }, 'json_object', 2],
    ['is reported where it changes the instructions', { instructions: 'Be brief.' }, 'json_object', 1],
  ])('%s', async (_, changed, type, lost) => {
    const asked = { input: [input[0], update(changed), input[4]], text: { format: { type: 'json_object' } } }
    const { body, warnings } = await sentTo('responses', 'openai-chat', asked)
    expect([at(body, 'response_format', 'type'), warnings]).toEqual([type, lost])
  })

  test('400: nothing but such items, which are no conversation', async () => {
    const asked = sentTo('responses', 'openai-chat', { input: [update({ reasoning: { effort: 'low' } })] })
    expect(await asked.catch((thrown: unknown) => thrown)).toMatchObject({ type: 'invalid_prompt' })
  })

  test('400: an effort that does not exist', async () => {
    const asked = sentTo('responses', 'openai-chat', { input: [input[0], update({ reasoning: { effort: 'most' } })] })
    expect(await asked.catch((thrown: unknown) => thrown)).toMatchObject({ type: 'invalid_prompt' })
  })
})

test('Messages: a picture that may not be made smaller goes to another dialect with a warning', async () => {
  const asking = (oversized_image: string): Json => ({
    max_tokens: 100,
    messages: [
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'url', url: 'https://a.example/a.png' }, transformations: { oversized_image } }],
      },
    ],
  })
  const [usual, asked] = [
    await sentTo('messages', 'openai-chat', asking('downsize')),
    await sentTo('messages', 'openai-chat', asking('error')),
  ]
  expect([usual.warnings, asked.warnings]).toEqual([0, 1])
  expect(asked.text).toBe(usual.text)
})

describe('Chat Completions to Google', () => {
  test('the description of a format is in its schema', async () => {
    const json_schema = { name: 'out', description: 'The weather.', schema: { type: 'object', properties: {} } }
    const { body } = await sentTo('chat', 'google', {
      messages: [{ role: 'user', content: 'Hi' }],
      response_format: { type: 'json_schema', json_schema },
    })
    expect(at(body, 'generationConfig', 'responseJsonSchema', 'description')).toBe('The weather.')
  })

  test('the description of a format whose schema stays a reference is left out with a warning, since Google takes nothing beside one', async () => {
    const schema = { $ref: 'https://a.example/s.json' }
    const { body, warnings } = await sentTo('chat', 'google', {
      messages: [{ role: 'user', content: 'Hi' }],
      response_format: { type: 'json_schema', json_schema: { name: 'out', description: 'The weather.', schema } },
    })
    expect([at(body, 'generationConfig', 'responseJsonSchema'), warnings]).toEqual([schema, 1])
  })

  test('a name of the assistant is left out with a warning', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello', name: 'eve' },
      { role: 'user', content: 'Go on' },
    ]
    expect((await sentTo('chat', 'google', { messages })).warnings).toBe(1)
  })
})

test('Responses: a program that OpenAI ran, and what came out of it, are left out elsewhere with a warning each', async () => {
  const input = [
    { role: 'user', content: 'Hi' },
    { type: 'program', id: 'p_1', call_id: 'call_1', code: 'f()', fingerprint: 'f' },
    { type: 'program_output', id: 'po_1', call_id: 'call_1', status: 'completed', result: '7' },
    { role: 'assistant', content: 'Seven.' },
    { role: 'user', content: 'Go on' },
  ]
  const { body, warnings } = await sentTo('responses', 'openai-chat', { input })
  expect([body['messages'], warnings]).toEqual([[input[0], input[3], input[4]], 2] as never)
})

describe('Responses: a request that only fills the cache', () => {
  const PREWARM = { prompt_cache_options: { prewarm: true } }

  test.each([false, true])('gets the empty answer of OpenAI, whole and as a stream: %p', async (stream) => {
    const reply = stream
      ? reported(
          'openai-responses',
          { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] }, sequence_number: 0 },
          { type: 'response.completed', response: { ...RESPONSE, output: [] }, sequence_number: 1 },
        )
      : whole({ ...RESPONSE, output: [] })
    const body = { ...question('responses', stream), ...PREWARM }
    const { text, sent } = await replay({ client: 'responses', upstreams: [{ dialect: 'openai-responses', reply, ...OPENAI }], body })
    expect(sent[0]?.body).toContain('"prompt_cache_options":{"prewarm":true}')
    if (stream) expect(readStream('responses', text)).toEqual({ end: 'normal', faults: [] })
    else expect(JSON.parse(text)).toMatchObject({ status: 'completed', output: [], error: null })
  })

  test.each([
    { dialect: 'anthropic', model: 'claude-opus-5-5' },
    { dialect: 'google', model: 'gemini-3-flash' },
    { dialect: 'bedrock', model: 'anthropic.claude-opus-4-8' },
    { dialect: 'openai-responses', slug: 'openai', model: 'gpt-5' },
    { dialect: 'openai-responses', model: 'a server of unknown fields' },
    { dialect: 'openai-chat', model: 'another' },
    { dialect: 'openai-responses', slug: 'openrouter', model: 'openai/gpt-6.2-sol' },
    { dialect: 'openai-chat', slug: 'openrouter', model: 'openai/gpt-6.2-sol' },
    { dialect: 'openai-responses', slug: 'vercel', model: 'openai/gpt-6.2-sol' },
  ] as const)('is refused at $model, which would answer it', async (upstream) => {
    const upstreams = [{ ...upstream, reply: whole({}) }]
    const { text, sent } = await replay({ client: 'responses', upstreams, body: { ...question('responses', false), ...PREWARM } })
    expect(sent).toEqual([])
    expect(JSON.parse(text)).toMatchObject({ status: 'failed', error: { metadata: { error_type: 'invalid_request' } } })
    expect(text).toContain('"message":"prompt_cache_options: ')
  })
})

describe('Messages: a request that only fills the cache', () => {
  const WARM = { max_tokens: 0 }
  const EMPTY = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: 'max_tokens',
    stop_sequence: null,
    usage: { input_tokens: 4, cache_creation_input_tokens: 2000, cache_read_input_tokens: 0, output_tokens: 0 },
  }

  test('gets the empty answer of Claude, and pays for what was cached', async () => {
    const upstreams = [{ dialect: 'anthropic', reply: whole(EMPTY), slug: 'anthropic', model: 'claude-opus-5-5' }] as const
    const { text, sent, headers } = await replay({ client: 'messages', upstreams, body: { ...question('messages', false), ...WARM } })
    expect(sent.map(({ body }) => at(JSON.parse(body), 'max_tokens'))).toEqual([0])
    expect(JSON.parse(text)).toMatchObject({ content: [], stop_reason: 'max_tokens', usage: { output_tokens: 0, is_byok: false } })
    expect(headers.get('x-service-warnings')).toBeNull()
  })

  test.each([
    { dialect: 'openai-chat', model: 'gpt-5' },
    { dialect: 'openai-responses', slug: 'openai', model: 'gpt-6.2-sol' },
    { dialect: 'google', model: 'gemini-3-flash' },
    { dialect: 'bedrock', model: 'anthropic.claude-opus-4-8' },
    { dialect: 'anthropic', slug: 'deepseek', model: 'deepseek-chat' },
    { dialect: 'anthropic', model: 'a server of unknown fields' },
  ] as const)('is refused at $model, which might answer it', async (upstream) => {
    const upstreams = [{ ...upstream, reply: whole({}) }]
    const { text, sent } = await replay({ client: 'messages', upstreams, body: { ...question('messages', false), ...WARM } })
    expect(sent).toEqual([])
    expect(text).toContain('"message":"max_tokens: ')
  })

  test.each(['chat', 'responses'] as const)('400: the limit of %s, which has no such request, is zero', async (client) => {
    const upstreams = [{ dialect: 'anthropic', reply: whole(EMPTY), slug: 'anthropic', model: 'claude-opus-5-5' }] as const
    const limit = client === 'chat' ? { max_tokens: 0 } : { max_output_tokens: 0 }
    const asked = replay({ client, upstreams, body: { ...question(client, false), ...limit } })
    expect(await asked.catch((thrown: unknown) => thrown)).toMatchObject({ type: 'invalid_request' })
  })

  test.each(['chat', 'responses'] as const)('400: a preset of %s that only fills the cache of OpenAI', (client) => {
    const body = { ...question(client, false), prompt_cache_options: { mode: 'implicit', prewarm: true } }
    expect(() => FORMATS[client].presetContent(body)).toThrow('prompt_cache_options.prewarm: A preset has to answer.')
    expect(() => FORMATS[client].presetContent({ ...body, prompt_cache_options: { prewarm: false } })).not.toThrow()
  })

  test('400: a preset that never answers', () => {
    const body = { model: 'anthropic/claude-opus-5.5', ...WARM, messages: [{ role: 'user', content: 'Hi' }] }
    expect(() => FORMATS.messages.presetContent(body)).toThrow('max_tokens: ')
  })
})

test('Messages: a summary by Claude comes first in the conversation, in place of what it summarises', async () => {
  const summary = { type: 'compaction', content: 'The user greeted.', encrypted_content: null, signature: 'c2ln', tool_changes: [] }
  const messages = [
    { role: 'assistant', content: [summary] },
    { role: 'user', content: 'Go on' },
    { role: 'assistant', content: 'Yes' },
    { role: 'user', content: 'On' },
  ]
  const upstreams = [{ dialect: 'anthropic', reply: whole({ content: [] }), slug: 'anthropic', model: 'claude-opus-5-5' }] as const
  const { sent, headers } = await replay({ client: 'messages', upstreams, body: { ...question('messages', false), messages } })
  expect([at(JSON.parse(sent[0]?.body ?? '{}'), 'messages'), headers.get('x-service-warnings')]).toEqual([messages, null])
})

describe('Messages: the fallback models that Anthropic would choose', () => {
  const asked = (headers: Readonly<Record<string, string>>) =>
    replay({
      client: 'messages',
      upstreams: [{ dialect: 'anthropic', reply: whole({ content: [] }), slug: 'anthropic', model: 'claude-opus-5-5' }],
      body: { ...question('messages', false), fallbacks: 'default' },
      headers,
    })

  test('are not tried, with a warning: they might be models that the caller may not use', async () => {
    const { text, sent } = await asked({ 'x-service-metadata': 'enabled' })
    expect(sent.map(({ body }) => body.includes('fallbacks'))).toEqual([false])
    expect(at(JSON.parse(text), 'service_metadata', 'warnings')).toMatchObject([{ code: 'unsupported_field', field: 'fallbacks' }])
  })

  test('400 if the request is strict', async () => {
    const refusal: unknown = await asked({ 'x-service-strict': 'enabled' }).catch((thrown: unknown) => thrown)
    expect(String(refusal)).toContain('fallbacks: The request is strict.')
  })

  test('400: any other word', async () => {
    const body = { ...question('messages', false), fallbacks: 'auto' }
    const refusal: unknown = await replay({ client: 'messages', upstreams: [], body }).catch((thrown: unknown) => thrown)
    expect(refusal).toMatchObject({ metadata: { issues: [{ path: 'fallbacks' }] } })
  })
})

describe('what OpenAI charges for is charged', () => {
  const costOf = async (answer: Json, prices: { prompt: number; completion: number; cache_write?: number; cache_write_1h?: number }) => {
    const item = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Yes', annotations: [] }],
    }
    const reply = whole({ ...RESPONSE, output: [item], ...answer })
    const upstreams = [{ dialect: 'openai-responses', reply, ...OPENAI }] as const
    const { text, run } = await replay({ client: 'responses', upstreams, body: question('responses', false), prices })
    return { cost: at(JSON.parse(text), 'usage', 'cost'), run }
  }

  test.each([
    ['minutes', { cache_write_tokens: 1000, cache_write_tokens_details: { ttl_30m_tokens: 1000, ttl_12h_tokens: 0 } }, 0.0025],
    ['hours', { cache_write_tokens: 1000, cache_write_tokens_details: { ttl_30m_tokens: 0, ttl_12h_tokens: 1000 } }, 0.005],
    ['both', { cache_write_tokens: 1000, cache_write_tokens_details: { ttl_30m_tokens: 400, ttl_12h_tokens: 600 } }, 0.004],
    ['no known time', { cache_write_tokens: 1000 }, 0.0025],
    ['an impossible split', { cache_write_tokens: 1000, cache_write_tokens_details: { ttl_12h_tokens: 5000 } }, 0.005],
  ])('a cache written for %s', async (_, input_tokens_details, cost) => {
    const usage = { input_tokens: 1000, input_tokens_details, output_tokens: 0 }
    expect((await costOf({ usage }, { prompt: 2, completion: 0, cache_write: 2.5, cache_write_1h: 5 })).cost).toBeCloseTo(cost, 10)
  })

  test.each([
    ['minutes', { ttl_30m_tokens: 1000, ttl_12h_tokens: 0 }, 0.0025],
    ['both', { ttl_30m_tokens: 400, ttl_12h_tokens: 600 }, 0.004],
  ])('a cache written for %s on Chat Completions', async (_, cache_write_tokens_details, cost) => {
    const prompt_tokens_details = { cache_write_tokens: 1000, cache_write_tokens_details }
    const usage = { prompt_tokens: 1000, prompt_tokens_details, completion_tokens: 0, total_tokens: 1000 }
    const message = { role: 'assistant', content: 'Yes' }
    const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const upstreams = [{ dialect: 'openai-chat', reply: whole({ ...answer, usage }), ...OPENAI }] as const
    const prices = { prompt: 2, completion: 0, cache_write: 2.5, cache_write_1h: 5 }
    const { text } = await replay({ client: 'chat', upstreams, body: question('chat', false), prices })
    expect(at(JSON.parse(text), 'usage', 'cost')).toBeCloseTo(cost, 10)
  })

  test('the model that writes a drawing (svg), which is counted apart', async () => {
    const svg_usage = { model: 'gpt-6.2-sol', input_tokens: 1000, output_tokens: 2000, reasoning_tokens: 500, total_tokens: 3000 }
    const drawing = { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'svg', result: 'PHN2Zy8+', svg_usage }
    const tool_usage = { image_gen: { input_tokens: 0, output_tokens: 1 } }
    const plain = await costOf({ output: [{ ...drawing, svg_usage: null }], tool_usage }, { prompt: 2, completion: 10 })
    const { cost } = await costOf({ output: [drawing], tool_usage }, { prompt: 2, completion: 10 })
    expect(Number(cost) - Number(plain.cost)).toBeCloseTo(0.022, 10)
  })
})

describe('a refusal before any output costs the input alone, whoever words it', () => {
  const explanation = 'This request was declined because it could enable cyber harm.'
  const REFUSALS = {
    anthropic: {
      content: [],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation },
      usage: { input_tokens: 7, output_tokens: 0 },
    },
    bedrock: {
      output: { message: { role: 'assistant', content: [] } },
      stopReason: 'refusal',
      usage: { inputTokens: 7, outputTokens: 0 },
    },
    'openai-chat': {
      choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'refusal' }],
      usage: { prompt_tokens: 7, completion_tokens: 0 },
    },
  } as const

  for (const client of CLIENT_DIALECTS)
    test.each(['anthropic', 'bedrock', 'openai-chat'] as const)(`${client}: %s`, async (dialect) => {
      const upstreams = [{ dialect, reply: whole(REFUSALS[dialect]) }]
      const { text } = await replay({ client, upstreams, body: question(client, false), prices: { prompt: 1, completion: 1000 } })
      expect(at(JSON.parse(text), 'usage')).toMatchObject({
        [client === 'chat' ? 'completion_tokens' : 'output_tokens']: 0,
        cost: 0.000007,
      })
    })
})

describe('403: Anthropic’s advisor with a model that a guardrail keeps from the caller', () => {
  const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-fable-5-2' }
  const ask = (settings: GuardrailPatch, more: Json = { tools: [advisor] }) =>
    replay({
      client: 'messages',
      upstreams: [{ dialect: 'anthropic', reply: whole({ content: [] }), slug: 'anthropic', model: 'claude-opus-5-5' }],
      body: { ...question('messages', false), ...more },
      guardrails: [guardrailWith(settings)],
    }).then(({ sent }) => sent.length, String)

  test.each<GuardrailPatch>([{ allowed_models: ['replay/*'] }, { ignored_models: ['*claude-fable*'] }])('%j', async (settings) => {
    expect(await ask(settings)).toContain('tools[0].model: the guardrails of this key do not allow this model.')
    const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition: advisor } }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: [addition] },
    ]
    expect(await ask(settings, { messages })).toContain('messages[1].content[0].tool.definition.model: ')
  })

  test('any other model may advise', async () => {
    expect(await ask({ ignored_models: ['*claude-opus-4*'] })).toBe(1)
    expect(await ask({ allowed_models: ['replay/*'] }, { tools: [{ ...advisor, model: 'replay/one' }] })).toBe(1)
  })
})
