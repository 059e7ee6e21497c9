/** Thinking that an account refuses is remembered: later turns of the conversation are sent without it, and with what came since. */
import { expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { type Exchange, responsesAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  azure: { name: Azure, dialects: [openai-responses], base_url: "${upstream.url}", api_key: key, any_model: true }
`,
})

const REFUSAL = JSON.stringify({
  error: { message: 'The encrypted content gAAA… could not be verified.', code: 'invalid_encrypted_content' },
})

const asked: Exchange[] = []

const thought = (id: string, proof: string): object => ({ type: 'reasoning', id, summary: [], encrypted_content: proof })

const turn = (stream: boolean, ...thoughts: readonly object[]) =>
  infer(service, { model: 'azure/gpt-5.4', stream, input: [{ role: 'user', content: 'Hi' }, ...thoughts] }, { path: '/responses' })

test('the first turn is sent twice, the next ones once, with the account’s own thinking', async () => {
  upstream.script((exchange) => {
    asked.push(exchange)
    if (exchange.text.includes('elsewhere')) return exchange.answer(400, REFUSAL)
    if (exchange.body.stream !== true) return exchange.answer(200, responsesAnswer('Yes'))
    return exchange.stream([`{"type":"response.completed","sequence_number":0,"response":${responsesAnswer('Yes')}}`])
  })
  const first = await turn(false, thought('rs_1', 'elsewhere'))
  expect([first.status, asked.length]).toEqual([200, 2])
  expect(first.headers.get('x-service-warnings')).toBe('1')

  const second = await turn(false, thought('rs_1', 'elsewhere'), thought('rs_2', 'here'))
  expect([second.status, asked.length]).toEqual([200, 3])
  expect(asked[2]?.text).toContain('here')

  const streamed = await turn(true, thought('rs_1', 'elsewhere'), thought('rs_2', 'here'))
  expect(streamed.text).toContain('"response.completed"')
  expect(asked).toHaveLength(4)
  expect(asked[3]?.text).toContain('here')
})
