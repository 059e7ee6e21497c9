/** Thinking that an account refuses is remembered: later turns of the conversation are sent without it, and with what came since. */
import { beforeAll, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { type Exchange, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  azure: { name: Azure, dialects: [openai-responses], base_url: "${upstream.url}", api_key: key, any_model: true }
`,
  })
})

const ANSWER = JSON.stringify({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-5.4',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Yes', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
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
    if (exchange.body.stream !== true) return exchange.answer(200, ANSWER)
    return exchange.stream([`{"type":"response.completed","sequence_number":0,"response":${ANSWER}}`])
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
