/** A text that a guardrail blocks reaches no provider, wherever in a request it is. */
import { beforeAll, expect, test } from 'bun:test'

import { call, DIALECTS, PATHS } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'
import { BODIES, put, stringsOf } from '../support/whole-bodies.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

const MARKER = 'PROJ-4711'
const DISGUISED = 'Ｐ\u200bROJ\u2011４7\u00ad11'
/** As it is, between invisible characters, between control characters and lone surrogates, and in JSON within JSON. */
const WRITTEN = [MARKER, DISGUISED, 'PR\0OJ-\u001b4711', 'P\ud800ROJ-47\udc0011', 'PR\\u004fJ-4711', '{"a":"\\\\u0050ROJ-4711"}']

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  fake: { dialects: [openai-chat, openai-responses, anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
`,
  })
  upstream.script(say('Fine.'))
  await call(service, 'PATCH', '/guardrails/default', {
    body: { content_filters: [{ pattern: 'PROJ-\\d+', action: 'block', label: 'PROJECT' }] },
  })
})

test.each(DIALECTS)(
  '%s: a secret leaves at no position of the request, and without it the request is sent',
  async (dialect) => {
    const body = BODIES[dialect]
    const send = (given: object) =>
      call(service, 'POST', PATHS[dialect], { key: service.inferenceKey, body: { ...given, model: 'fake/one' } })
    const before = upstream.exchanges.length
    const { status, text } = await send(body)
    expect([status, text]).not.toEqual([403, expect.anything()])
    expect(upstream.exchanges.length).toBeGreaterThan(before)
    for (const path of stringsOf(body)) for (const written of WRITTEN) await send(put(body, path, written))
    const leaked = upstream.exchanges.filter((exchange) =>
      WRITTEN.some((written) => exchange.text.includes(JSON.stringify(written).slice(1, -1))),
    )
    expect(leaked.map((exchange) => exchange.text)).toEqual([])
  },
  300_000,
)
