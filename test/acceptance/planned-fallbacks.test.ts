/** Fallbacks that a client requests, and the limit on the load of one provider. */
import { expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()

const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  t/bad: { endpoints: [{ provider: fake, model: bad }] }
  t/ok: { endpoints: [{ provider: fake, model: ok }] }
`
const SAID = [{ role: 'user', content: 'Hello!' }]

test('if the first model of 30 simultaneous requests fails, all reach the next one that they name, wave after wave', async () => {
  const service = await services.start({ config: CONFIG })
  upstream.script((exchange) => (exchange.body.model === 'bad' ? exchange.answer(500, '{}') : exchange.answer(200, proseAnswer('Hi.'))))
  for (let wave = 0; wave < 4; wave += 1) {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        infer(service, { models: ['t/bad', 't/ok'], messages: SAID }, { headers: { 'x-service-provider-failure': 'status' } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  }
}, 300_000)

test('if the provider of 30 simultaneous requests fails, all reach the other one that serves the model', async () => {
  const second = `  other: { name: Other, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }\n`
  const two = '  t/two: { endpoints: [{ provider: fake, model: bad }, { provider: other, model: ok }] }\n'
  const service = await services.start({ config: CONFIG.replace('models:\n', `${second}models:\n`) + two })
  const held: (() => Promise<void>)[] = []
  upstream.script((exchange) => {
    if (exchange.body.model !== 'bad') return exchange.answer(200, proseAnswer('Hi.'))
    held.push(() => exchange.answer(500, '{}'))
    return undefined
  })
  const answers = Array.from({ length: 30 }, () =>
    infer(service, { model: 't/two', messages: SAID, provider: { order: ['fake', 'other'] } }),
  )
  await until(() => held.length === 30, '30 requests')
  for (const answer of held) await answer()
  for (const { json } of await Promise.all(answers)) expect(json).toMatchObject({ choices: [{ message: { content: 'Hi.' } }] })
}, 300_000)

test('503: the provider is at its concurrency limit, which the file sets', async () => {
  const service = await services.start({ config: `${CONFIG}limits: { provider_in_flight: 2 }\n` })
  const waiting: (() => void)[] = []
  upstream.script(async (exchange) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    await exchange.answer(200, proseAnswer('Hi.'))
  })
  const ask = () => infer(service, { model: 't/ok', messages: SAID })
  const running = [ask(), ask()]
  await until(() => waiting.length === 2, 'two requests')
  const { status, json } = await ask()
  expect([status, json]).toMatchObject([
    503,
    {
      error: {
        message: expect.stringContaining('Fake is at its concurrency limit') as string,
        metadata: { not_tried: [{ provider_name: 'Fake', model: 't/ok', reason: 'is at its concurrency limit' }] },
      },
    },
  ])
  for (const answer of waiting) answer()
  expect((await Promise.all(running)).map((answer) => answer.status)).toEqual([200, 200])
}, 300_000)
