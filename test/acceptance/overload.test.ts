/**
 * Five times as many requests as the service can take, and what they leave behind. Everything is counted, not timed, so that it holds on a
 * busy machine too.
 */
import { afterAll, expect, test } from 'bun:test'

import { type Answer, call, createKey, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const PLACES = 20
const services = useServices()
const upstream = await startFakeUpstream()
let release: () => void = () => undefined
afterAll(() => release())

const service = await services.start({
  config: `
limits: { loop_lag_ms: 0, in_flight: ${PLACES}, queue: 10, queue_seconds: 0.2, key_share: 0, max_body_bytes: 1048576, body_bytes_in_flight: 8388608 }
providers:
  priced: { name: Priced, dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  priced/one: { endpoints: [{ provider: priced, model: up, prices: { prompt: 1, completion: 2 } }] }
`,
})

const request = { model: 'priced/one', max_tokens: 10, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] }

const metrics = async (): Promise<ReadonlyMap<string, number>> => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return new Map([...text.matchAll(/^(patchbay_\w+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]))
}

/** Everything that a request takes and must release. */
const HELD = [
  'patchbay_requests_inside',
  'patchbay_requests_waiting',
  'patchbay_request_body_bytes',
  'patchbay_unread_answer_bytes',
  'patchbay_running_generations',
  'patchbay_held_requests',
]
const taken = async (): Promise<readonly (readonly [string, number | undefined])[]> => {
  const found = await metrics()
  return HELD.map((name) => [name, found.get(name)] as const).filter(([, value]) => value !== 0)
}

test('after bursts of five times its capacity it serves as before: no place, hold or byte leaks, and each refusal said when to retry', async () => {
  const { key } = await createKey(service, { name: 'spender', limit: 1000 })
  for (let burst = 0; burst < 3; burst += 1) {
    const held = Promise.withResolvers<void>()
    release = held.resolve
    let inside = 0
    upstream.script(async (exchange) => {
      inside += 1
      await held.promise
      await say('Hi.')(exchange)
    })
    const leaving = new AbortController()
    // Whole, streamed, and by clients that disconnect.
    const asked = Array.from({ length: 5 * PLACES }, (_, index) =>
      infer(service, { ...request, stream: index % 2 === 0 }, { key, ...(index % 5 === 0 ? { signal: leaving.signal } : {}) }).catch(
        () => null,
      ),
    )
    let decided = 0
    const refused: Answer[] = []
    for (const each of asked)
      void each.then((answer) => {
        decided += 1
        if (answer !== null && answer.status !== 200) refused.push(answer)
      })
    await until(() => inside === PLACES && decided === 4 * PLACES, 'each request to be let in or refused')
    expect(refused.filter(({ status, headers }) => status !== 503 || !headers.has('retry-after'))).toEqual([])
    // When full, it still reports that it is ready, and can be managed.
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)
    expect((await call(service, 'GET', '/presets')).status).toBe(200)
    leaving.abort()
    held.resolve()
    await Promise.all(asked)
    await until(async () => (await taken()).length === 0, 'all that was taken to be given back')
    // Fills all places at once: every place is free again.
    upstream.script(say('Hi.'))
    const again = await Promise.all(Array.from({ length: PLACES }, () => infer(service, request, { key })))
    expect(again.map(({ status }) => status)).toEqual(Array.from({ length: PLACES }, () => 200))
  }
  await until(async () => (await taken()).length === 0, 'all that was taken to be given back')
  expect(await service.stop()).toBe(0)
  const audit = await services.run(['ledger', 'audit', '--data-dir', service.dataDir])
  expect([audit.code, audit.stdout]).toEqual([0, expect.not.stringContaining('WRONG')])
})
