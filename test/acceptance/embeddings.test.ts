/** Embeddings are asked only of providers that speak the dialect they are asked in. */
import { beforeAll, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  other: { dialects: [anthropic], base_url: "${upstream.url}", api_key: upstream-credential }
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  other/two: { endpoints: [{ provider: other, model: up-two }] }
  fake/one:
    endpoints: [{ provider: other, model: up-other }, { provider: fake, model: up-one }]
`,
  })
  upstream.script((exchange) =>
    exchange.answer(200, '{"object":"list","data":[],"model":"up","usage":{"prompt_tokens":1,"total_tokens":1}}'),
  )
})

test.each(['sandbox/echo', 'other/two'])(
  'a model whose providers speak none of it is refused before anybody is asked: %s',
  async (model) => {
    const answer = await infer(service, { model, input: 'hi' }, { path: '/embeddings' })
    expect([answer.status, upstream.exchanges.length]).toEqual([422, 0])
    expect(answer.json).toMatchObject({ error: { message: 'No provider of this model has embeddings.' } })
  },
)

test('a provider that speaks none of it is passed over for one that does', async () => {
  const answer = await infer(service, { model: 'fake/one', input: 'hi', provider: { order: ['other'] } }, { path: '/embeddings' })
  expect([answer.status, upstream.last.body['model']]).toEqual([200, 'up-one'])
})
