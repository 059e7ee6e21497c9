/** A record says why a request failed, and has no prompt, even if the provider answers with the input that it refuses. */
import { beforeAll, expect, test } from 'bun:test'

import { call, conversationOf, DIALECTS, infer, PATHS, recordOf } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
const ASKED = 'My account 4711 was charged twice on the third of May. Why?'
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  local: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  local/one: { endpoints: [{ provider: local, model: up-one }] }
`,
  })
})

/** The whole input, as servers that validate it answer. */
const quoting = (status: number): void =>
  upstream.script((exchange) =>
    exchange.answer(
      status,
      JSON.stringify({ error: { message: `1 validation error for messages: input ${JSON.stringify(exchange.body.messages)}` } }),
    ),
  )

test.each(DIALECTS)(
  '%s: what a provider quotes of the request reaches its client, and stands in no record and no list',
  async (dialect) => {
    for (const status of [400, 422, 500, 503]) {
      quoting(status)
      const answer = await infer(service, { model: 'local/one', ...conversationOf(dialect, ASKED) }, { path: PATHS[dialect] })
      const record = await recordOf(service, answer)
      const { text: list } = await call(service, 'GET', '/generations?limit=5')
      const { text: health } = await call(service, 'GET', '/providers/health')
      for (const shown of [JSON.stringify(record), list, health]) expect(shown).not.toContain('charged twice')
      expect(JSON.stringify(record)).toContain('1 validation error for messages: input ')
      if (status === 400) expect(answer.text).toContain('charged twice')
    }
  },
)

test('a sentence without such a quotation is recorded as the provider wrote it, with the names of models and tools', async () => {
  const sentence = 'The tool get_account_movements_of_customer of up-one-with-a-long-name is not allowed here.'
  upstream.script((exchange) => exchange.answer(400, JSON.stringify({ error: { message: sentence } })))
  const tools = [{ type: 'function', function: { name: 'get_account_movements_of_customer', parameters: { type: 'object' } } }]
  const answer = await infer(service, { model: 'local/one', ...conversationOf('chat', ASKED), tools })
  expect(await recordOf(service, answer)).toMatchObject({ error: { message: expect.stringContaining(sentence) } })
})

test('of a request of more than 256 KiB only the beginning of a sentence is recorded', async () => {
  upstream.script((exchange) => exchange.answer(400, JSON.stringify({ error: { message: 'Too long: '.padEnd(3000, '.') } })))
  const answer = await infer(service, { model: 'local/one', ...conversationOf('chat', 'x'.repeat(300_000)) })
  const { error } = (await recordOf(service, answer)) as { error: { message: string } }
  expect(error.message).toMatch(/^.*Too long: \.+$/)
  expect(error.message).toHaveLength(200)
})
