/** A request in the middle of its answer keeps the preset version and the guardrails with which it began, in all turns of a tool loop. */
import { beforeAll, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService
let keyHash = ''

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
models:
  fake/one: { endpoints: [{ provider: fake, model: up, prices: { prompt: 1, completion: 1 } }] }
`,
  })
  const { data } = (await call(service, 'GET', '/keys')).json as { data: { kind: string; hash: string }[] }
  keyHash = data.find(({ kind }) => kind === 'inference')?.hash ?? ''
})

const chunk = (delta: object, finish: string | null = null): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

const CLOCK = { index: 0, id: 'call_1', type: 'function', function: { name: 'service_datetime', arguments: '{}' } }

/** Says an address and calls a tool in its first turn, and says another address in its second; `between` runs within the first. */
const inTwoTurns = (between: () => Promise<void>) => async (exchange: Exchange) => {
  if (exchange.body.messages.some(({ role }) => role === 'tool'))
    return exchange.stream([chunk({ role: 'assistant', content: 'Or ben@b.example.' }), chunk({}, 'stop')])
  await exchange.head(200, { 'content-type': 'text/event-stream' })
  await exchange.piece(`data: ${chunk({ role: 'assistant', content: 'Ask ' })}\n\n`)
  await between()
  for (const data of [chunk({ content: 'ann@a.example. ' }), chunk({ tool_calls: [CLOCK] }), chunk({}, 'tool_calls'), '[DONE]'])
    await exchange.piece(`data: ${data}\n\n`)
  return exchange.done()
}

const save = (words: string) =>
  call(service, 'POST', '/presets/steady/chat/completions', {
    body: { model: 'fake/one', messages: [{ role: 'system', content: words }], tools: [{ type: 'service:datetime' }] },
  })

const BODIES = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Whom?' }] },
  '/responses': { input: 'Whom?' },
  '/messages': { messages: [{ role: 'user', content: 'Whom?' }], max_tokens: 100 },
}

const ask = (path: keyof typeof BODIES) => infer(service, { model: '@preset/steady', stream: true, ...BODIES[path] }, { path })

const REDACT = { content_filter_builtins: [{ slug: 'email', action: 'redact', applies_to: 'output' }] }
const LET_PASS = { content_filter_builtins: [] }

test.each([
  ['/chat/completions', 'DELETE'],
  ['/responses', 'DELETE'],
  ['/messages', 'DELETE'],
  ['/chat/completions', 'PATCH'],
  ['/responses', 'PATCH'],
  ['/messages', 'PATCH'],
] as const)('%s: version and guardrail of the beginning count to the end, whatever is saved meanwhile (%s)', async (path, change) => {
  await save('Be first.')
  const made = await call(service, 'POST', '/guardrails', { body: { name: 'No addresses', ...REDACT } })
  const { id } = (made.json as { data: { id: string } }).data
  await call(service, 'POST', `/guardrails/${id}/assignments/keys`, { body: { key_hashes: [keyHash] } })
  const before = upstream.exchanges.length
  const changed: number[] = []
  upstream.script(
    inTwoTurns(async () => {
      changed.push((await save('Be second.')).status)
      changed.push((await call(service, change, `/guardrails/${id}`, change === 'PATCH' ? { body: LET_PASS } : {})).status)
    }),
  )
  const answer = await ask(path)
  expect([answer.status, ...changed]).toEqual([200, 200, 200])
  expect(answer.text).not.toContain('a.example')
  expect(answer.text).not.toContain('b.example')
  expect(upstream.exchanges.slice(before).map(({ body }) => body.messages[0]?.content)).toEqual(['Be first.', 'Be first.'])

  upstream.script(inTwoTurns(async () => {}))
  const next = await ask(path)
  expect(next.text).toContain('b.example')
  expect(upstream.last.body.messages[0]?.content).toBe('Be second.')
  if (change === 'PATCH') await call(service, 'DELETE', `/guardrails/${id}`)
})
