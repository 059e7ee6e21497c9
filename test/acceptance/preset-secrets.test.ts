/** The hidden part of a preset is visible to the provider and to management keys, but not to those who only use the preset. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'bun:test'

import { call, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

const PROMPT = 'You are the oracle of "Delphi".\nNever tell anybody that the answer is forty-two.'
const ADVICE = 'Think like a lawyer of the old school, and bill for it.'
const TOOLS = [
  {
    type: 'mcp',
    server_label: 'crm',
    server_url: 'https://mcp.example.com/x?token=S3CRET-url',
    authorization: 'S3CRET-auth',
    headers: { 'X-Key': 'S3CRET-header' },
  },
  { type: 'hosted_advisor', parameters: { instructions: ADVICE } },
  { type: 'named_advisor', name: 'counsel', parameters: { instructions: `${ADVICE} Twice.`, token: 'S3CRET-token' } },
  {
    type: 'shell',
    environment: {
      type: 'container_auto',
      network_policy: {
        type: 'allowlist',
        allowed_domains: ['crm.example'],
        domain_secrets: [{ domain: 'crm.example', name: 'CRM_KEY', value: 'S3CRET-domain' }],
      },
    },
  },
]
const SECRETS = ['S3CRET', 'oracle', 'Delphi', 'forty-two', 'old school']

const expectOpen = (text: string): void => {
  for (const secret of SECRETS) expect(text).not.toContain(secret)
}

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  chat: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
  native: { dialects: [openai-responses], base_url: "${upstream.url}", api_key: upstream-credential }
  claude: { dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/chat: { endpoints: [{ provider: chat, model: up-one }] }
  fake/native: { endpoints: [{ provider: native, model: up-one }] }
  fake/claude: { endpoints: [{ provider: claude, model: up-one }] }
`,
  })
  const body = { model: 'fake/native', instructions: PROMPT, tools: TOOLS }
  expect((await call(service, 'POST', '/presets/helper/responses', { body })).status).toBe(200)
})

const bodyOf = (dialect: Dialect, model: string, more: object = {}): Record<string, unknown> => ({
  model: `${model}@preset/helper`,
  ...conversationOf(dialect, 'Hi'),
  ...more,
})
const ask = (dialect: Dialect, model: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  call(service, 'POST', PATHS[dialect], { key: service.inferenceKey, body: bodyOf(dialect, model, more), headers })

/** As OpenAI answers: it echoes the whole request. */
const responseTo = ({ body }: Exchange): object => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up-one',
  instructions: body['instructions'],
  tools: body.tools,
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})

describe('an answer that repeats the request', () => {
  test.each([false, true])('contains marks (stream: %p), while the provider got the real values', async (stream) => {
    upstream.script((exchange) => {
      const response = responseTo(exchange)
      if (!stream) return exchange.answer(200, JSON.stringify(response))
      return exchange.stream([
        JSON.stringify({ type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } }),
        JSON.stringify({ type: 'response.completed', sequence_number: 1, response }),
      ])
    })
    const { status, text } = await ask('responses', 'fake/native', { stream, ...(stream ? { debug: { echo_upstream_body: true } } : {}) })
    expect(status).toBe(200)
    expectOpen(text)
    expect(text).toContain('"authorization":"[preset system prompt]"')
    expect(text).toContain('"X-Key":"[preset system prompt]"')
    for (const secret of ['S3CRET-auth', 'S3CRET-header', 'S3CRET-url', 'Delphi']) expect(upstream.last.text).toContain(secret)
  })

  test('a dry run too, on every interface', async () => {
    for (const dialect of DIALECTS) {
      for (const model of ['fake/chat', 'fake/native', 'fake/claude']) {
        const { status, text } = await ask(dialect, model, {}, { 'x-service-dry-run': 'enabled' })
        // On its own interface the preset has a tool that only the provider of this one model may support.
        const refused = dialect === 'responses' && model !== 'fake/native'
        expect([status, text]).toEqual(
          refused ? [400, expect.stringContaining('mcp')] : [200, expect.stringContaining('[preset system prompt]')],
        )
        expectOpen(text)
      }
    }
  })

  test('MCP servers of Messages are kept for the toolsets that name them, and their tokens shown to nobody who only uses the preset', async () => {
    const kept = {
      mcp_servers: [{ type: 'url', url: 'https://mcp.example.com/x?token=S3CRET-query', name: 'crm', authorization_token: 'S3CRET-mcp' }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'crm' }],
    }
    const body = { model: 'fake/claude', max_tokens: 9, ...kept }
    expect((await call(service, 'POST', '/presets/connected/messages', { body })).status).toBe(200)
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up-one', content: [{ type: 'text', text: 'Hello' }] }
    const end = { stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }
    upstream.script(({ body: sent, answer }) => answer(200, JSON.stringify({ ...message, ...end, mcp_servers: sent['mcp_servers'] })))
    const asked = { model: '@preset/connected', messages: [{ role: 'user', content: 'Hi' }] }
    const { status, text } = await call(service, 'POST', '/messages', { key: service.inferenceKey, body: asked })
    expect(status).toBe(200)
    expectOpen(text)
    expect(text).toContain('"authorization_token":"[preset system prompt]"')
    expect(upstream.last.body).toMatchObject(kept)
  })

  test('a credential that the client sets itself is not shown either', async () => {
    upstream.script((exchange) => exchange.answer(200, JSON.stringify(responseTo(exchange))))
    const tools = [{ type: 'mcp', server_label: 'own', server_url: 'https://own.example.com', authorization: 'S3CRET-own' }]
    expectOpen((await ask('responses', 'fake/native', { tools }, { 'x-service-dry-run': 'enabled' })).text)
    expectOpen((await ask('responses', 'fake/native', { tools })).text)
  })
})

describe('an answer that repeats the whole request in unknown members', () => {
  const MODELS: Readonly<Record<string, string>> = { chat: 'fake/chat', responses: 'fake/native', messages: 'fake/claude' }

  /** Every place where an answer may have an additional member. */
  const echoes = (text: string): object => ({
    request: JSON.parse(text),
    request_text: text,
    twice: { quoted: JSON.stringify(text), list: [text.slice(0, text.length / 2), text.slice(text.length / 2)] },
  })
  const answers: Readonly<Record<string, (echo: object, response: object) => object>> = {
    chat: (echo) => ({
      id: 'c',
      object: 'chat.completion',
      model: 'up-one',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello', ...echo }, ...echo }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, debug: echo },
      ...echo,
    }),
    responses: (echo, response) => ({
      ...response,
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello', annotations: [], ...echo }],
          ...echo,
        },
      ],
      ...echo,
    }),
    messages: (echo) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up-one',
      content: [{ type: 'text', text: 'Hello', ...echo }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1, debug: echo },
      ...echo,
    }),
  }
  /** In pieces too small to be recognised as a quotation. */
  const inPieces = (text: string): string[] => text.match(/.{1,5}/gs) ?? []
  const events: Readonly<Record<string, (exchange: Exchange, echo: object) => string[]>> = {
    chat: ({ text }, echo) => {
      const chunk = (delta: object, more: object, end: string | null = null) =>
        JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: end }], ...more })
      return [
        chunk({ role: 'assistant', content: 'Hel', ...echo }, echo),
        chunk({ content: 'lo' }, {}),
        ...inPieces(text).map((piece) => chunk({ content: '' }, { debug: { piece } })),
        chunk({}, echo, 'stop'),
      ]
    },
    responses: (exchange, echo) => {
      const response = responseTo(exchange)
      return [
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [], ...echo }, tools: exchange.body.tools },
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { type: 'message', id: 'msg_1', role: 'assistant', content: [], ...echo },
        },
        { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hello', ...echo },
        ...inPieces(exchange.text).map((piece) => ({ type: 'response.in_progress', response: { ...response, piece } })),
        { type: 'response.unheard_of', response, ...echo },
        { type: 'response.completed', response: answers['responses']?.(echo, response), ...echo },
      ].map((event, at) => JSON.stringify({ ...event, sequence_number: at }))
    },
    messages: ({ text }, echo) =>
      [
        { type: 'message_start', message: { ...answers['messages']?.(echo, {}), content: [], stop_reason: null }, ...echo },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', ...echo } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello', ...echo }, ...echo },
        ...inPieces(text).map((piece) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' }, piece })),
        { type: 'content_block_stop', index: 0, ...echo },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', ...echo }, usage: { output_tokens: 1 }, ...echo },
        { type: 'message_stop', ...echo },
      ].map((event) => JSON.stringify(event)),
  }

  test.each(DIALECTS)('shows nothing of the preset, and everything that the model said: %s', async (dialect) => {
    for (const stream of [false, true]) {
      upstream.script((exchange) => {
        const echo = echoes(exchange.text)
        const sent = events[dialect]?.(exchange, echo) ?? []
        return stream
          ? exchange.stream(dialect === 'messages' ? sent : [...sent, '[DONE]'])
          : exchange.answer(200, JSON.stringify(answers[dialect]?.(echo, responseTo(exchange))))
      })
      const { status, text } = await ask(dialect, MODELS[dialect] ?? '', { stream })
      expect([status, text.includes('error_type')]).toEqual([200, false])
      expect(text).toContain('Hel')
      expect(text).toContain('[preset system prompt]')
      expectOpen(text)
      const pieces = [...text.matchAll(/"piece":"((?:[^"\\]|\\.)*)"/g)].map(([, piece = '']) => JSON.parse(`"${piece}"`)).join('')
      expectOpen(pieces)
      if (stream) expect(pieces).toContain('[preset system prompt]')
    }
  })

  test('shows none of these members if the request goes to another dialect', async () => {
    upstream.script((exchange) => exchange.answer(200, JSON.stringify(answers['chat']?.(echoes(exchange.text), {}))))
    for (const dialect of ['responses', 'messages'] as const) expectOpen((await ask(dialect, 'fake/chat')).text)
  })

  test("keeps the model's own words, even if they equal the preset's", async () => {
    const said = { role: 'assistant', content: `As "Delphi" says: ${PROMPT}` }
    upstream.script((exchange) =>
      exchange.answer(200, JSON.stringify({ id: 'c', choices: [{ index: 0, finish_reason: 'stop', message: said }] })),
    )
    const { text } = await ask('chat', 'fake/chat')
    expect(JSON.parse(text).choices[0].message.content).toBe(said.content)
  })
})

describe('a provider that quotes what it refuses', () => {
  const quoted = (body: string): string =>
    JSON.stringify({
      error: { message: `Invalid input: ${body}`, type: 'invalid_request_error', code: `bad: ${PROMPT}`, param: body.slice(0, 20) },
    })

  for (const dialect of DIALECTS) {
    test.each(['fake/chat', 'fake/native', 'fake/claude'])(`shows nothing of it: ${dialect} on %s, whole and streamed`, async (model) => {
      for (const quote of [
        (text: string) => quoted(text),
        (text: string) => quoted(JSON.stringify(text)),
        () => quoted(PROMPT.slice(0, 30)),
        () => `<html>${PROMPT} ${ADVICE} S3CRET-auth</html>`,
      ]) {
        upstream.script((exchange) => exchange.answer(400, quote(exchange.text)))
        for (const stream of [false, true]) {
          for (const failure of ['body', 'status']) {
            const { text } = await ask(
              dialect,
              model,
              { stream },
              { 'x-service-provider-failure': failure, 'x-service-metadata': 'enabled' },
            )
            expect(text).toMatch(/invalid_request|error/)
            expectOpen(text)
          }
        }
      }
      expectOpen(service.stderr())
    })
  }

  test('counting tokens: the same', async () => {
    upstream.script((exchange) => exchange.answer(400, quoted(exchange.text)))
    const { status, text } = await call(service, 'POST', '/messages/count_tokens', {
      key: service.inferenceKey,
      body: bodyOf('messages', 'fake/claude'),
    })
    expect([status, text]).toEqual([400, expect.stringContaining('[preset system prompt]')])
    expectOpen(text)
  })

  test('inside a stream that has begun: the same', async () => {
    upstream.script((exchange) =>
      exchange.stream([
        JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hello' } }] }),
        JSON.stringify({ error: { message: `Failed at: ${PROMPT}`, code: 400 } }),
      ]),
    )
    for (const dialect of DIALECTS) expectOpen((await ask(dialect, 'fake/chat', { stream: true })).text)
  })
})

test('no file of the service holds a credential in plain text', async () => {
  const key = { 'idempotency-key': 'once' }
  const body = { model: 'fake/native', tools: TOOLS }
  const saved = await call(service, 'POST', '/presets/kept/responses', { body, headers: key })
  expect((await call(service, 'POST', '/presets/kept/responses', { body, headers: key })).text).toBe(saved.text)
  const files = readdirSync(service.dataDir).filter((name) => statSync(join(service.dataDir, name)).isFile())
  expect(files.length).toBeGreaterThan(1)
  for (const name of files) {
    const bytes = readFileSync(join(service.dataDir, name)).toString('latin1')
    for (const secret of ['S3CRET', 'old school']) expect([name, bytes.includes(secret)]).toEqual([name, false])
  }
})

test('management keys read the configuration as it was written; inference keys do not read it at all', async () => {
  const { preset } = await call(service, 'GET', '/presets/helper')
  expect(preset.designated_version).toMatchObject({ system_prompt: PROMPT, config: { tools: TOOLS } })
  expect((await call(service, 'GET', '/presets/helper', { key: service.inferenceKey })).status).toBe(403)
  expectOpen((await call(service, 'GET', '/presets')).text)
  expectOpen((await call(service, 'GET', '/audit-log')).text)
  expectOpen((await infer(service, { model: '@preset/none', messages: [] })).text)
})
