/**
 * Tools that cannot run here are saved in a preset, and the response says how requests with it would be refused
 * (docs/contract/tools.md#tools-of-a-preset).
 */
import { beforeAll, describe, expect, test } from 'bun:test'

import { call, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const provider = await startFakeUpstream()
const endpoint = (slug: string, model: string): string =>
  `{ endpoints: [{ provider: ${slug}, model: ${model}, prices: { prompt: 1, completion: 1 } }] }`

const CONFIG = `
providers:
  openai: { name: OpenAI, dialects: [openai-responses], base_url: "${provider.url}", api_key: k }
  groq: { name: Groq, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
models:
  t/gpt: ${endpoint('openai', 'gpt-5')}
  t/groq: ${endpoint('groq', 'llama-4')}
tools: { files: { enabled: false } }
`

let service: StartedService
beforeAll(async () => {
  service = await services.start({ config: CONFIG })
  await call(service, 'PATCH', '/workspaces/default', { body: { disabled_server_tools: ['datetime'] } })
})

const save = (dialect: Dialect, slug: string, body: object) =>
  call(service, 'POST', `/presets/${slug}${PATHS[dialect]}`, { body: { ...(dialect === 'messages' ? { max_tokens: 10 } : {}), ...body } })

const refusal = async (dialect: Dialect, slug: string): Promise<readonly [number, string]> => {
  const { status, json } = await infer(service, { model: `@preset/${slug}`, ...conversationOf(dialect, 'Hi.') }, { path: PATHS[dialect] })
  return [status, (json as { error: { message: string } }).error.message]
}

const IDLE = [
  ['an engine for the search', { type: 'service:web_search' }],
  ['files, which the file turns off', { type: 'service:files' }],
  ['a picture without a model', { type: 'service:image_generation' }],
  ["a vendor's own", { type: 'mcp', server_label: 's', server_url: 'https://mcp.example.com' }],
  ['a tool that the workspace forbids', { type: 'service:datetime' }],
] as const

describe.each(DIALECTS)('a preset of %s', (dialect) => {
  test.each(IDLE)('is saved with a warning about %s in the words of the refusal', async (_, tool) => {
    const slug = `one-${dialect}`
    const saved = await save(dialect, slug, { model: 't/groq', tools: [tool] })
    expect(saved.status).toBe(200)
    const [status, message] = await refusal(dialect, slug)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(message).toStartWith('tools[0]')
    expect(saved.headers.get('x-service-warning')).toContain(message.replace(` It comes from the preset ${slug}.`, ''))
  })

  test('warns about each such tool, with its position, and about no other', async () => {
    const saved = await save(dialect, `many-${dialect}`, {
      model: 't/groq',
      tools: [{ type: 'service:web_fetch' }, { type: 'service:files' }, { type: 'service:datetime' }, { type: 'service:shell' }],
    })
    expect(saved.status).toBe(200)
    const text = saved.headers.get('x-service-warning') ?? ''
    expect([...text.matchAll(/tools\[\d\]/g)].map(([place]) => place).toSorted()).toEqual(['tools[1]', 'tools[2]', 'tools[3]'])
  })

  test('warns about more tools than a request may have, which is refused before any of them is looked at', async () => {
    const saved = await save(dialect, `crowd-${dialect}`, {
      model: 't/groq',
      tools: Array.from({ length: 129 }, () => ({ type: 'service:web_fetch' })),
    })
    const sentence = 'tools: A request has at most 128 tools that this service may run; this one has 129.'
    expect([saved.status, saved.headers.get('x-service-warning')]).toEqual([200, expect.stringContaining(sentence)])
    expect(await refusal(dialect, `crowd-${dialect}`)).toEqual([400, sentence])
  })

  test('has no warning if a provider of the model has the tool, if no model is set, and for functions', async () => {
    const search = { type: 'service:web_search' }
    for (const body of [{ model: 't/gpt', tools: [search] }, { tools: [search] }, { model: 't/groq', tools: [] }]) {
      const saved = await save(dialect, `fine-${dialect}`, body)
      expect([saved.status, saved.headers.get('x-service-warning')]).toEqual([200, null])
    }
  })
})
