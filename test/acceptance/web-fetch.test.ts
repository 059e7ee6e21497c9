/** Pages that the service fetches for models. Tests have no internet, so they only request addresses that it must refuse. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const page = await startFakeUpstream()
let service: StartedService
let off: StartedService
let careful: StartedService
const inner = await startFakeUpstream()

beforeAll(async () => {
  service = await services.start()
  off = await services.start({ config: 'tools: { web_fetch: { enabled: false } }' })
  careful = await services.start({
    config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${inner.url}", api_key: k }
models:
  t/inner: { endpoints: [{ provider: fake, model: inner }] }
tools:
  web_fetch: { urls: seen }
  web_search: { engines: { house: { kind: searxng, url: "${page.url.slice(0, -'/v1'.length)}" } } }
`,
  })
})

const ask = (dialect: Dialect, url: string, more: Readonly<Record<string, unknown>> = {}, to: StartedService = service): Promise<Answer> =>
  infer(
    to,
    {
      model: 'sandbox/agent',
      sandbox: { script: [{ call: { name: 'service:web_fetch', arguments: { url } } }, { text: 'Never mind.' }] },
      ...conversationOf(dialect, 'Read it.'),
      tools: [{ type: 'service:web_fetch' }],
      ...more,
    },
    { path: PATHS[dialect] },
  )

describe.each(DIALECTS)('%s', (dialect) => {
  test.each(['http://169.254.169.254/latest/meta-data/', 'http://localhost/', 'file:///etc/passwd', page.url])(
    '%s is not fetched, and the answer goes on',
    async (url) => {
      page.script((exchange) => exchange.answer(200, 'SECRET'))
      const { status, text } = await ask(dialect, url)
      expect(status).toBe(200)
      expect(text).toContain('Never mind.')
      expect(text).toMatch(/not of the open internet|not an http or https address|are not open|url_not_allowed/)
      expect(text).not.toContain('SECRET')
      expect(page.exchanges).toEqual([])
    },
  )

  test('a stream of it has one beginning and one end', async () => {
    const { status, text } = await ask(dialect, 'http://127.0.0.1/', { stream: true })
    expect(status).toBe(200)
    expect(readStream(dialect, text)).toEqual({ end: 'normal', faults: [] })
  })

  test('where the operator has turned it off, the request is refused by the name of the setting', async () => {
    const { status, text } = await ask(dialect, 'https://example.com/', {}, off)
    expect(status).toBe(400)
    expect(text).toContain('tools.web_fetch.enabled')
  })

  test('an option that is none is refused by its place', async () => {
    const { status, text } = await ask(dialect, 'https://example.com/', {
      tools: [{ type: 'service:web_fetch', parameters: { allowed_domains: ['not a domain'] } }],
    })
    expect(status).toBe(400)
    expect(text).toContain('tools[0].parameters.allowed_domains[0]')
  })
})

test("Messages: Claude's own fetch runs here where the provider has none, and answers in Claude's blocks", async () => {
  const { json } = await ask('messages', 'http://10.0.0.1/', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 1 }] })
  expect(json).toMatchObject({
    content: [
      { type: 'server_tool_use', name: 'web_fetch', input: { url: 'http://10.0.0.1/' } },
      { type: 'web_fetch_tool_result', content: { type: 'web_fetch_tool_result_error', error_code: 'url_not_allowed' } },
      { type: 'text', text: 'Never mind.' },
    ],
  })
})

test.each(['service:web_fetch.content', 'openrouter:web_fetch.content', 'service:progress', 'openrouter:progress'])(
  'Responses: include takes %s',
  async (name) => {
    expect((await ask('responses', 'http://10.0.0.1/', { include: [name] })).status).toBe(200)
  },
)

test('Responses: the item says which page, and why there is none', async () => {
  const { json } = await ask('responses', 'http://10.0.0.1/')
  expect(json).toMatchObject({
    output: [
      { type: 'service:web_fetch', status: 'incomplete', url: 'http://10.0.0.1/', error: expect.stringContaining('open internet') },
      { type: 'message' },
    ],
  })
})

describe.each(DIALECTS)('urls: seen, %s', (dialect) => {
  // It is not an address of the open internet, so a permitted fetch of it is refused for that reason.
  const MADE_UP = 'http://10.9.8.7/?q=what-the-user-said'
  const fetching = { call: { name: 'service:web_fetch', arguments: { url: MADE_UP } } }

  test('an address that the model made up counts as asked for, and not as fetched', async () => {
    const { json } = await ask(dialect, MADE_UP, {}, careful)
    expect(json).toMatchObject({
      usage: { server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 0, web_search_requests: 0 } },
    })
  })

  test('an address that the model put into a search was seen by nobody', async () => {
    page.script((exchange) => exchange.answer(200, '{"results":[]}'))
    const script = [{ call: { name: 'service:web_search', arguments: { query: MADE_UP } } }, fetching, { text: 'Never mind.' }]
    const tools = [{ type: 'service:web_search' }, { type: 'service:web_fetch' }]
    const { text } = await ask(dialect, MADE_UP, { sandbox: { script }, tools }, careful)
    expect(text).toMatch(/url_not_in_prior_context|Only addresses that are in the conversation/)
    expect(text).not.toMatch(/open internet|url_not_allowed/)
  })

  test.each([
    [
      'service:subagent',
      { task_name: 'fetch', task_description: `Read ${MADE_UP}.` },
      { model: 't/inner', tools: [{ type: 'service:web_fetch' }] },
    ],
    ['service:fusion', { prompt: `Read ${MADE_UP}.` }, { analysis_models: ['t/inner'], model: 't/inner' }],
  ])('an address that the model gave to a %s was seen by nobody, and one of the client by both', async (type, input, parameters) => {
    const read: string[] = []
    inner.script(({ body, answer }) => {
      const result = body.messages.find(({ role }) => role === 'tool')
      if (result === undefined) {
        const call = { id: 'c1', type: 'function', function: { name: 'service_web_fetch', arguments: JSON.stringify({ url: MADE_UP }) } }
        const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }
        return answer(200, proseAnswer('', body.tools === undefined ? {} : { choices: [choice] }))
      }
      read.push(JSON.stringify(result.content))
      return answer(200, proseAnswer('So it is.'))
    })
    const script = [{ call: { name: type, arguments: input } }, { text: 'Never mind.' }]
    const asked = (said: string) =>
      ask(dialect, MADE_UP, { sandbox: { script }, tools: [{ type, parameters }], ...conversationOf(dialect, said) }, careful)
    expect((await asked('Go on.')).status).toBe(200)
    expect((await asked(`Go on with ${MADE_UP}`)).status).toBe(200)
    expect(read).toHaveLength(2)
    expect(read[0]).toContain('url_not_in_prior_context')
    expect(read[1]).toContain('open internet')
  })
})
