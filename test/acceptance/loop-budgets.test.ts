/** Tool loops with a provider that charges the most that each body allows cannot make a key spend more than its limit. */
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { call, createKey, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { literalCharge } from '../support/literal-meter.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
const AT_ONCE = 200

upstream.script((exchange) => {
  const { inputTokens, outputTokens } = literalCharge(exchange.text, 'openai-chat')
  const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
  if (exchange.body['tool_choice'] === 'none') return exchange.answer(200, proseAnswer('Done.', { usage }))
  const at = exchange.body.messages.length
  const message = {
    role: 'assistant',
    content: 'x'.repeat(200),
    tool_calls: [{ id: `call_${at}`, type: 'function', function: { name: 'service_datetime', arguments: '{}' } }],
  }
  return exchange.answer(200, proseAnswer('', { usage, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
})

const drawn = fc.sample(
  fc.record({
    prompt: fc.integer({ min: 1, max: 50 }),
    completion: fc.integer({ min: 1, max: 200 }),
    loops: fc.integer({ min: 1, max: 30 }),
  }),
  { numRuns: 3, seed: 46 },
)

describeEachEngine(`${AT_ONCE} loops at once never spend more than the limit of their key`, (engine) => {
  test.each(drawn)(
    '%j',
    async ({ prompt, completion, loops }) => {
      const { databaseUrl } = await engine.locate()
      const service = await services.start({
        config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
models:
  fake/one: { endpoints: [{ provider: fake, model: m, prices: { prompt: ${prompt}, completion: ${completion} } }] }
`,
        ...(engine.name === 'postgres' ? { flags: ['--database-url', databaseUrl ?? ''] } : {}),
      })
      // About as much as some of the loops need for a few turns.
      const limit = Number(((prompt * 1500 + completion * 50) * 3e-6 * loops).toFixed(6))
      const { key } = await createKey(service, { name: 'limited', limit })
      const body = {
        model: 'fake/one',
        max_tokens: 50,
        max_tool_calls: 4,
        messages: [{ role: 'user', content: 'Go.' }],
        tools: [{ type: 'service:datetime' }],
      }
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => infer(service, body, { key })))
      const statuses = new Set(answers.map(({ status }) => status))
      expect([...statuses].filter((status) => ![200, 402, 403].includes(status))).toEqual([])
      const { data } = (await call(service, 'GET', '/key', { key })).json as { data: { usage: number } }
      expect(data.usage).toBeLessThanOrEqual(limit)
      const reported = answers.reduce(
        (sum, { status, json }) => sum + (status === 200 ? (json as { usage: { cost: number } }).usage.cost : 0),
        0,
      )
      expect(data.usage).toBeCloseTo(reported, 6)
      expect(statuses.has(200)).toBe(true)
    },
    300_000,
  )
})
