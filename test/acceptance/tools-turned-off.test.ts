/** Each tool of the service has a switch in the operator's file. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { call, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const SETTINGS: Readonly<Record<string, readonly [setting: string, dialects: readonly Dialect[]]>> = {
  datetime: ['datetime', DIALECTS],
  experimental__search_models: ['search_models', DIALECTS],
  web_search: ['web_search', DIALECTS],
  web_fetch: ['web_fetch', DIALECTS],
  advisor: ['advisor', DIALECTS],
  subagent: ['subagent', DIALECTS],
  fusion: ['fusion', DIALECTS],
  image_generation: ['image_generation', DIALECTS],
  files: ['files', DIALECTS],
  tool_search: ['tool_search', ['responses', 'messages']],
  apply_patch: ['apply_patch', ['responses']],
  shell: ['shell', ['responses', 'messages']],
  bash: ['shell', ['messages']],
}
const CASES = Object.entries(SETTINGS).flatMap(([tool, [setting, dialects]]) =>
  dialects.map((dialect): [string, Dialect, string] => [tool, dialect, setting]),
)

const services = useServices()
const provider = await startFakeUpstream()
let off: StartedService
let fetching: StartedService

beforeAll(async () => {
  const switches = [...new Set(CASES.map(([, , setting]) => setting))].filter((setting) => setting !== 'shell')
  off = await services.start({
    config: [
      `providers: { groq: { base_url: "${provider.url}", api_key: k } }`,
      'models: { t/llama: { endpoints: [{ provider: groq, model: llama }] } }',
      'tools:',
      ...switches.map((setting) => `  ${setting}: { enabled: false }`),
      '  shell: { enabled: false, kind: http, url: "http://127.0.0.1:9", api_key: secret }',
    ].join('\n'),
  })
  fetching = await services.start({ config: 'tools: { web_fetch: { enabled: false } }' })
})

const ask = (dialect: Dialect, more: object, service = off) =>
  infer(
    service,
    { model: 'sandbox/agent', sandbox: { script: [{ text: 'Done.' }] }, ...conversationOf(dialect, 'Hi'), ...more },
    { path: PATHS[dialect] },
  )

describe('400 before any model is asked, by the name of the setting', () => {
  test.each(CASES)('service:%s on %s: tools.%s.enabled', async (tool, dialect, setting) => {
    const engine = tool === 'bash' ? { parameters: { engine: 'service' } } : {}
    const { status, error } = await ask(dialect, { tools: [{ type: `service:${tool}`, ...engine }] })
    expect([status, error.message]).toEqual([
      400,
      expect.stringContaining(`tools[0]: service:${tool} is turned off here (tools.${setting}.enabled).`),
    ])
  })

  test('a preset with such a tool can be saved, with the sentence as a warning', async () => {
    const { status, headers } = await call(off, 'POST', '/presets/clock/responses', {
      body: { model: 'sandbox/agent', tools: [{ type: 'service:datetime' }] },
    })
    expect(status).toBe(200)
    expect(headers.get('x-service-warning')).toContain('tools.datetime.enabled')
  })
})

test('what agents name unasked is left out with a warning', async () => {
  provider.script(say('Done.'))
  const { status, headers } = await ask('responses', { model: 't/llama', tools: [{ type: 'web_search' }, { type: 'image_generation' }] })
  expect([status, headers.get('x-service-warnings')]).toEqual([200, '2'])
})

test('every other tool runs', async () => {
  const script = [{ call: { name: 'service:datetime', arguments: {} } }, { text: 'Done.' }]
  const { status, text } = await ask('responses', { tools: [{ type: 'service:datetime' }], sandbox: { script } }, fetching)
  expect(status).toBe(200)
  expect(text).toContain('"timezone":"UTC"')
})
