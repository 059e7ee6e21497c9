/** A vendor may say what it charged, which is not always the price of the shipped catalogue (decisions/0146). */
import { expect, test } from 'bun:test'

import { type Answer, infer } from '../support/calls.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  openrouter: { base_url: "${upstream.url}", api_key: a-key }
  xai: { base_url: "${upstream.url}", api_key: a-key }
  other: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: a-key }
models:
  v/own-price: { endpoints: [{ provider: openrouter, model: up, prices: { prompt: 1, completion: 1 } }] }
  v/without: { endpoints: [{ provider: openrouter, model: up }] }
  v/other: { endpoints: [{ provider: other, model: up, prices: { prompt: 1, completion: 1 } }] }
`,
})

const COUNTED = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 }

const costOf = async (model: string, reported: object): Promise<unknown> => {
  upstream.script((exchange) => exchange.answer(200, proseAnswer('Hello.', { usage: { ...COUNTED, ...reported } })))
  const { json }: Answer = await infer(service, { model, messages: [{ role: 'user', content: 'Hi' }] })
  return (json as { usage?: { cost: unknown } }).usage?.cost ?? json
}

test('a vendor that reports its charge is believed over the catalogue', async () => {
  expect(await costOf('x-ai/grok-4.5', { cost_in_usd_ticks: 1_000_000_000 })).toBe(0.1)
  // 1000 × $2 + 1000 × $6 a million
  expect(await costOf('x-ai/grok-4.5', {})).toBe(0.008)
  expect(await costOf('x-ai/grok-4.5', { cost_in_usd_ticks: 0 })).toBe(0.008)
})

test("the operator's own prices, and servers whose word is not exact, are charged by the price", async () => {
  expect(await costOf('v/own-price', { cost: 0.5 })).toBe(0.002)
  expect(await costOf('v/other', { cost: 0.5 })).toBe(0.002)
})

test("what a vendor charges beside OpenRouter's fee for an account's own key there is charged too", async () => {
  const cost_details = { upstream_inference_cost: 0.19 }
  expect(await costOf('v/without', { cost: 0.01, is_byok: true, cost_details })).toBe(0.2)
  expect(await costOf('v/without', { cost: 0.19, is_byok: false, cost_details })).toBe(0.19)
})
