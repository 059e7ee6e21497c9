/** A provider that reads a body literally and charges the most that it may cannot make a key spend more than its limit. */
import { expect, test } from 'bun:test'

import { call, createKey, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { proseAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { literalCharge } from '../support/literal-meter.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()

const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one, prices: { prompt: 10, completion: 100 } }] }
`

const LIMIT = 1
const AT_ONCE = 150

const said = (content: unknown) => [{ role: 'user', content }]
const BASE = { model: 'fake/one', messages: said('Hello!') }
const pictures = Array.from({ length: 20 }, () => ({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }))
const dataUrl = `data:image/png;base64,${'QUJD'.repeat(20_000)}`

const SHAPES: Readonly<Record<string, string>> = {
  'two limits that contradict each other': JSON.stringify({ ...BASE, max_completion_tokens: 10, max_tokens: 4000 }),
  'a number of answers': JSON.stringify({ ...BASE, max_tokens: 10, n: 64 }),
  'a number of answers as text': JSON.stringify({ ...BASE, max_tokens: 10, n: '128' }),
  'a field of an older interface that multiplies work': JSON.stringify({ ...BASE, max_tokens: 10, best_of: 100 }),
  'names in another case': JSON.stringify({ ...BASE, max_tokens: 10, Max_Tokens: '4000', N: 2 }),
  'a limit by a name that the provider may not know': JSON.stringify({ ...BASE, Max_Tokens: 1 }),
  'settings in an object that nobody knows': JSON.stringify({ ...BASE, max_tokens: 10, extra_body: { num_return_sequences: 64 } }),
  'pictures whose addresses are escaped': JSON.stringify({ ...BASE, max_tokens: 10, messages: said(pictures) }).replaceAll(
    '"http',
    '"\\u0068ttp',
  ),
  'text in a tool that looks like a picture': JSON.stringify({
    ...BASE,
    max_tokens: 10,
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', image_url: { url: dataUrl }, data: dataUrl } } }],
  }),
}

describeEachEngine(`${AT_ONCE} requests at once never spend more than the limit of their key`, (engine) => {
  let service: StartedService | undefined
  const started = async (): Promise<StartedService> => {
    if (service !== undefined) return service
    const { databaseUrl } = await engine.locate()
    service = await services.start({
      config: CONFIG,
      ...(engine.name === 'postgres' ? { flags: ['--database-url', databaseUrl ?? ''] } : {}),
    })
    return service
  }

  test.each(Object.entries(SHAPES))(
    '%s',
    async (_, body) => {
      upstream.script((exchange) => {
        const { inputTokens, outputTokens } = literalCharge(exchange.text, 'openai-chat')
        const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
        return exchange.answer(200, proseAnswer('Hi.', { usage }))
      })
      const running = await started()
      const { key } = await createKey(running, { name: 'limited', limit: LIMIT })
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => infer(running, body, { key })))
      const statuses = new Set(answers.map(({ status }) => status))
      // Some are admitted, or the form itself is refused; there are no other failures.
      expect([...statuses].filter((status) => ![200, 400, 402, 403].includes(status))).toEqual([])
      const { json } = await call(running, 'GET', '/key', { key })
      const { usage } = (json as { data: { usage: number } }).data
      expect(usage).toBeLessThanOrEqual(LIMIT)
      expect(usage > 0).toBe(statuses.has(200))
    },
    300_000,
  )
})
