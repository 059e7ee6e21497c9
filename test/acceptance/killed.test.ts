/** A service that is killed: the requests that it had answered are recorded and charged all the same (docs/budgets.md). */
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
const REQUESTS = 40
/** 1,000 tokens in and 100 out, at 1 and 2 dollars per million. */
const COST = 0.0012

const config = `providers:
  priced:
    name: Priced
    dialects: [openai-chat]
    base_url: ${upstream.url}
models:
  priced/one:
    endpoints: [{ provider: priced, model: one, prices: { prompt: 1, completion: 2 } }]
`

beforeAll(() => {
  const answer = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'one',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
  }
  upstream.script((exchange) => exchange.answer(200, JSON.stringify(answer), { 'content-type': 'application/json' }))
})

const ask = async (service: StartedService, key: string): Promise<string> => {
  const body = { model: 'priced/one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }
  const { status, headers } = await infer(service, body, { key })
  expect(status).toBe(200)
  return headers.get('x-generation-id') ?? ''
}

const usage = async (service: StartedService, hash: string): Promise<number> =>
  ((await call(service, 'GET', `/keys/${hash}`)).json as { data: { usage: number } }).data.usage

describe('every answer before kill -9 is in the records and charged once after the next start', () => {
  test.each([
    ['without a limit', {}],
    ['with a limit', { limit: 100 }],
  ])('of a key %s', async (_, limits) => {
    const first = await services.start({ config })
    const made = (await call(first, 'POST', '/keys', { body: { name: 'spender', ...limits } })).json as {
      key: string
      data: { hash: string }
    }
    const ids = await Promise.all(Array.from({ length: REQUESTS }, () => ask(first, made.key)))
    first.signal('SIGKILL')
    await first.exited

    const second = await services.start({ config, dataDir: first.dataDir })
    const service = { ...second, managementKey: first.managementKey, inferenceKey: first.inferenceKey }
    for (const id of ids) {
      const record = await call(service, 'GET', `/generation?id=${id}`)
      expect(record.status).toBe(200)
      expect(record.json).toMatchObject({ data: { id, total_cost: COST, native_tokens_prompt: 1000 } })
    }
    expect(await usage(service, made.data.hash)).toBeCloseTo(REQUESTS * COST, 9)
    // Nothing is counted twice: the next start finds nothing to do.
    second.signal('SIGKILL')
    await second.exited
    const third = await services.start({ config, dataDir: first.dataDir })
    const last = { ...third, managementKey: first.managementKey }
    await until(async () => (await call(last, 'GET', '/keys')).status === 200, 'the third start')
    expect(await usage(last, made.data.hash)).toBeCloseTo(REQUESTS * COST, 9)
    const audit = await services.run(['ledger', 'audit', '--data-dir', first.dataDir])
    expect([audit.code, audit.stdout]).toEqual([0, expect.not.stringContaining('WRONG')])
  })
})

test('an answer before kill -9 is charged although another program has the number of the killed process by now', async () => {
  const first = await services.start({ config })
  await ask(first, first.inferenceKey)
  first.signal('SIGKILL')
  await first.exited
  const journal = join(first.dataDir, 'journal')
  for (const name of readdirSync(journal)) renameSync(join(journal, name), join(journal, `settlements-${process.pid}-1.jsonl`))
  const second = await services.start({ config, dataDir: first.dataDir })
  const { json } = await call({ ...second, managementKey: first.managementKey }, 'GET', '/keys')
  expect((json as { data: { usage: number }[] }).data.map((key) => key.usage)).toContain(COST)
  expect(readdirSync(journal)).toEqual([])
})
