/** Pages that the service fetches for models. There is no internet in a test: what is asked for are addresses that it must refuse. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { infer, type Answer } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const page = await startFakeUpstream()
let service: StartedService
let off: StartedService

beforeAll(async () => {
  service = await services.start()
  off = await services.start({ config: 'tools: { web_fetch: { enabled: false } }' })
})

const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const
type Dialect = keyof typeof PATHS
const DIALECTS = Object.keys(PATHS) as Dialect[]

const ask = (dialect: Dialect, url: string, more: Readonly<Record<string, unknown>> = {}, to: StartedService = service): Promise<Answer> =>
  infer(
    to,
    {
      model: 'sandbox/agent',
      sandbox: { script: [{ call: { name: 'service:web_fetch', arguments: { url } } }, { text: 'Never mind.' }] },
      ...(dialect === 'responses' ? { input: 'Read it.' } : { messages: [{ role: 'user', content: 'Read it.' }] }),
      ...(dialect === 'messages' ? { max_tokens: 500 } : {}),
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
