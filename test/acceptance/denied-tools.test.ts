/** Tools that guardrails and workspaces forbid are refused on every interface, whoever would run them. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, conversationOf, createKey, type Dialect, DIALECTS, infer, PATHS, savePreset } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const provider = await startFakeUpstream()
const config = `
providers:
  openai: { name: OpenAI, dialects: [openai-responses, openai-chat], base_url: "${provider.url}", api_key: k }
  alibaba: { dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
  own: { name: Own, any_model: true, dialects: [openai-chat, openai-responses, anthropic], base_url: "${provider.url}", api_key: k }
  google: { base_url: "${provider.url}", api_key: k }
  anthropic: { base_url: "${provider.url}", api_key: k }
models:
  t/native: { endpoints: [{ provider: openai, model: gpt-5.4 }] }
  t/qwen: { endpoints: [{ provider: alibaba, model: qwen-plus }] }
  t/own: { endpoints: [{ provider: own, model: own-one }] }
  t/gemini: { endpoints: [{ provider: google, model: gemini-2.5-flash }] }
  t/claude: { endpoints: [{ provider: anthropic, model: claude-haiku-4-5 }] }
  t/sonar: { endpoints: [{ provider: own, model: sonar-pro }] }
  t/compound: { endpoints: [{ provider: own, model: groq/compound-mini }] }
  t/preview: { endpoints: [{ provider: own, model: gpt-4o-search-preview-2025-03-11 }] }
  t/online: { endpoints: [{ provider: own, model: 'openai/gpt-5.4:online' }] }
  t/either: { endpoints: [{ provider: own, model: sonar }, { provider: alibaba, model: sonar-like-one }] }
`

let service: StartedService
let guarded: string

beforeAll(async () => {
  service = await services.start({ config })
  const made = await createKey(service, { name: 'guarded' })
  guarded = made.key
  const denied_tools = ['datetime', 'web_search', 'web_fetch', 'fusion']
  const { json } = await call(service, 'POST', '/guardrails', { body: { name: 'quiet', denied_tools } })
  const { data } = json as { data: { id: string; denied_tools: unknown } }
  expect(data.denied_tools).toEqual(denied_tools)
  const assigned = await call(service, 'POST', `/guardrails/${data.id}/assignments/keys`, { body: { key_hashes: [made.data.hash] } })
  expect(assigned.status).toBe(200)
})

const ask = (dialect: Dialect, more: Readonly<Record<string, unknown>>, key = guarded): Promise<Answer> =>
  infer(
    service,
    {
      model: 'sandbox/agent',
      sandbox: { script: [{ text: 'Done.' }] },
      ...conversationOf(dialect, 'Hi'),
      ...more,
    },
    { path: PATHS[dialect], key },
  )

const refusal = ({ status, json }: Answer): readonly [number, string, string] => {
  const { error } = json as { error: { type?: string; message: string; metadata?: { error_type: string } } }
  return [status, error.metadata?.error_type ?? error.type ?? '', error.message]
}

describe('a tool that a guardrail denies', () => {
  for (const dialect of DIALECTS) {
    test(`is 403 on ${dialect}, under each of its names, whole and streamed; other tools run`, async () => {
      for (const [type, tool] of [
        ['service:datetime', 'datetime'],
        ['openrouter:web_search', 'web_search'],
        [dialect === 'messages' ? 'web_search_20250305' : 'web_search', 'web_search'],
      ] as const) {
        for (const stream of [false, true]) {
          const [status, kind, message] = refusal(await ask(dialect, { stream, tools: [{ type, name: tool }] }))
          expect([status, kind.startsWith('permission_')]).toEqual([403, true])
          expect(message).toContain(`the tool ${tool} is switched off`)
        }
      }
      expect((await ask(dialect, { tools: [{ type: 'service:experimental__search_models' }] })).status).toBe(200)
      expect((await ask(dialect, { tools: [{ type: 'service:datetime' }] }, service.inferenceKey)).status).toBe(200)
    })
  }

  test('is 403 even if a provider would run it, and that provider is not asked', async () => {
    const before = provider.exchanges.length
    const native = { model: 't/native', sandbox: undefined }
    expect((await ask('responses', { ...native, tools: [{ type: 'web_search' }] })).status).toBe(403)
    expect((await ask('chat', { ...native, web_search_options: {} })).status).toBe(403)
    expect(provider.exchanges.length).toBe(before)
  })

  test.each<[string, object, string]>([
    ['web_search', { enable_search: true }, 'enable_search'],
    ['web_search', { search_options: { forced_search: true } }, 'search_options'],
    ['web_search', { search_parameters: { mode: 'auto' } }, 'search_parameters'],
    ['web_search', { web_search: true }, 'web_search'],
    ['web_search', { web_search: { enable: true } }, 'web_search'],
    ['web_search', { search_settings: {} }, 'search_settings'],
    ['web_search', { parameters: { enable_search: true } }, 'parameters.enable_search'],
    ['web_search', { compound_custom: { tools: { enabled_tools: ['web_search'] } } }, 'compound_custom.tools'],
    ['web_fetch', { compound_custom: { tools: { enabled_tools: ['visit_website'] } } }, 'compound_custom.tools'],
    ['web_search', { tools: [{ type: 'live_search', sources: [] }] }, 'tools[0]'],
    ['web_search', { tools: [{ type: 'x_search' }] }, 'tools[0]'],
    ['web_search', { tools: [{ type: 'browser_search' }] }, 'tools[0]'],
    ['web_search', { tools: [{ type: 'web_search_premium' }] }, 'tools[0]'],
    ['web_search', { tools: [{ type: 'google_search' }] }, 'tools[0]'],
    ['web_search', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 'tools[0]'],
    ['web_fetch', { tools: [{ type: 'url_context' }] }, 'tools[0]'],
    ['web_search', { google: { tools: [{ googleSearch: {} }] } }, 'google.tools'],
  ])('is 403 in a vendor’s own words: %s by %j', async (tool, more, at) => {
    const before = provider.exchanges.length
    for (const dialect of DIALECTS) {
      for (const model of ['t/own', 't/qwen']) {
        const { status, text } = await ask(dialect, { model, sandbox: undefined, ...more })
        expect([status === 403 || text, text]).toEqual([true, expect.stringContaining(`${at}: the tool ${tool} is switched off`)])
      }
    }
    expect(provider.exchanges.length).toBe(before)
  })

  test('rules out models that search unasked: another model or endpoint answers, and without one nobody is asked', async () => {
    provider.script(say('Hi.'))
    const before = provider.exchanges.length
    const research = ['own/perplexity/sonar-pro-search', 'own/openai/o4-mini-deep-research']
    const searching = ['t/sonar', 't/compound', 't/preview', 't/online', 'own/sonar-reasoning', ...research]
    for (const model of searching) {
      const { status, text } = await ask('chat', { model, sandbox: undefined })
      expect([model, status, text]).toEqual([model, 503, expect.stringContaining('(denied_tools: web_search)')])
    }
    expect(provider.exchanges.length).toBe(before)
    for (const more of [{ model: 't/sonar', models: ['t/qwen'] }, { model: 't/either' }]) {
      expect((await ask('chat', { sandbox: undefined, ...more })).status).toBe(200)
    }
    expect(provider.exchanges.slice(before).map(({ body }) => body.model)).toEqual(['qwen-plus', 'sonar-like-one'])
    expect((await ask('chat', { model: 't/sonar', sandbox: undefined }, service.inferenceKey)).status).toBe(200)
  })

  test('is 403 in a message that brings tools', async () => {
    const tools = [{ type: 'builtin_function', function: { name: '$web_search' } }]
    const messages = [
      { role: 'system', tools },
      { role: 'user', content: 'Hi' },
    ]
    const { status, text } = await ask('chat', { model: 't/own', sandbox: undefined, messages })
    expect([status, text]).toEqual([403, expect.stringContaining('messages[0].tools[0]: the tool web_search is switched off')])
  })

  test('is 403 in a message that defines it, and in a summary that says it was defined', async () => {
    const before = provider.exchanges.length
    const definition = { type: 'web_search_20260318', name: 'web_search' }
    const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition } }
    const summary = { type: 'compaction', content: 'Hi.', encrypted_content: null, signature: 's', tool_changes: [addition] }
    const said = { role: 'user', content: 'Hi' }
    for (const [messages, at] of [
      [[said, { role: 'system', content: [addition] }], 'messages[1].content[0].tool.definition'],
      [[{ role: 'assistant', content: [summary] }, said], 'messages[0].content[0].tool_changes[0].tool.definition'],
    ] as const) {
      const { status, text } = await ask('messages', { model: 't/claude', sandbox: undefined, messages })
      expect([status, text]).toEqual([403, expect.stringContaining(`${at}: the tool web_search is switched off`)])
    }
    expect(provider.exchanges.length).toBe(before)
  })

  test('is not asked for by a vendor’s field that turns it off, nor by a function of the client’s', async () => {
    provider.script(say('Hi.'))
    for (const more of [
      { enable_search: false },
      { web_search: false },
      { search_parameters: { mode: 'off' } },
      { tools: [{ type: 'function', function: { name: 'web_search' } }] },
      { functions: [{ name: 'web_search' }] },
    ])
      expect((await ask('chat', { model: 't/own', sandbox: undefined, ...more })).status).toBe(200)
  })

  test('is 403 in an item of the input that adds tools, and under a newer version of a vendor’s name', async () => {
    const before = provider.exchanges.length
    const said = { role: 'user', content: 'Hi' }
    for (const model of ['t/native', 't/gemini', 't/claude']) {
      for (const tool of [{ type: 'web_search' }, { type: 'openrouter:datetime' }, { type: 'web_search_2031_01_01' }]) {
        const input = [{ type: 'additional_tools', role: 'developer', tools: [tool] }, said]
        const [status, , message] = refusal(await ask('responses', { model, sandbox: undefined, input }))
        expect([status, message]).toEqual([403, expect.stringContaining('input[0].tools[0]')])
      }
      const newer = { model, sandbox: undefined, tools: [{ type: 'web_search_next' }] }
      for (const dialect of DIALECTS) expect((await ask(dialect, newer)).status).toBe(403)
    }
    expect(provider.exchanges.length).toBe(before)
  })

  test('is 403 even if a member of another tool says that the client runs it', async () => {
    const before = provider.exchanges.length
    for (const model of ['t/native', 't/gemini', 't/claude'])
      for (const dialect of DIALECTS) {
        const type = dialect === 'messages' ? 'web_search_20250305' : 'web_search'
        for (const name of [type, 'service:web_search']) {
          const tools = [{ type: name, name: 'web_search', execution: 'client' }]
          expect((await ask(dialect, { model, sandbox: undefined, tools })).status).toBe(403)
        }
      }
    expect(provider.exchanges.length).toBe(before)
  })

  test('is 403 even if its name is written with escapes', async () => {
    const before = provider.exchanges.length
    for (const type of [String.raw`web\u005fsearch`, String.raw`\u0077eb_search`, String.raw`service\u003aweb_search`]) {
      const body = `{"model":"t/native","input":"Hi","tools":[{"type":"${type}"}]}`
      expect((await call(service, 'POST', PATHS.responses, { key: guarded, body })).status).toBe(403)
    }
    expect(provider.exchanges.length).toBe(before)
  })

  test.each([
    ['the plugin web', { plugins: [{ id: 'web' }] }],
    ['the variant :online', { model: 'sandbox/agent:online' }],
    ['the plugin web-fetch', { plugins: [{ id: 'web-fetch' }] }],
    ['a preset', { model: '@preset/clock' }],
  ])('is 403 through %s', async (_name, more) => {
    await savePreset(service, 'clock', { model: 'sandbox/agent', tools: [{ type: 'service:datetime' }] }, 'responses')
    const [status, , message] = refusal(await ask('chat', more))
    expect([status, message]).toEqual([403, expect.stringContaining('is switched off')])
  })
})

describe('the tools that a workspace disables', () => {
  test('are 403 from the next request on, and available again once they are enabled', async () => {
    const own = await services.start({ config })
    const patch = (disabled_server_tools: unknown): Promise<Answer> =>
      call(own, 'PATCH', '/workspaces/default', { body: { disabled_server_tools } })
    const withClock = (): Promise<Answer> =>
      infer(own, {
        model: 'sandbox/agent',
        sandbox: { script: [{ text: 'Done.' }] },
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [{ type: 'service:datetime' }],
      })
    expect((await withClock()).status).toBe(200)
    const changed = await patch(['openrouter:datetime', 'web_fetch'])
    expect([changed.status, (changed.json as { data: { disabled_server_tools: unknown } }).data.disabled_server_tools]).toEqual([
      200,
      ['openrouter:datetime', 'web_fetch'],
    ])
    expect(refusal(await withClock())[0]).toBe(403)
    expect((await patch(null)).status).toBe(200)
    expect((await withClock()).status).toBe(200)
  })

  test('must exist: an unknown name is a 400', async () => {
    const wrong = await call(service, 'PATCH', '/workspaces/default', { body: { disabled_server_tools: ['web_serch'] } })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('disabled_server_tools')])
    const denied = await call(service, 'POST', '/guardrails', { body: { name: 'x', denied_tools: ['web_serch'] } })
    expect([denied.status, denied.text]).toEqual([400, expect.stringContaining('denied_tools')])
  })
})
