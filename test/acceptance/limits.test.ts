/** Rate limits and admission as clients meet them. */
import { describe, expect, test } from 'bun:test'

import { call, createKey, infer } from '../support/calls.ts'
import { until, useServices } from '../support/started-service.ts'

const services = useServices()

const echo = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }
const slow = { model: 'sandbox/slow', messages: [{ role: 'user', content: 'Hi' }], stream: true }

const keyWith = async (fields: object): Promise<{ key: string; hash: string }> => {
  const { key, data } = await createKey(service, { name: 'limited', ...fields })
  return { key, hash: data.hash }
}

const service = await services.start({ config: 'limits: { key_concurrency: 3, requests_per_minute: 1000 }' })

describe('requests a minute', () => {
  test('429 with Retry-After, the three headers and no metadata of the routing, on each interface', async () => {
    const { key } = await keyWith({ rpm_limit: 2 })
    for (let request = 0; request < 2; request += 1) expect((await infer(service, echo, { key })).status).toBe(200)
    const before = Date.now()
    const refused = await infer(service, echo, { key, headers: { 'x-service-metadata': 'enabled' } })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(25)
    expect([refused.headers.get('x-ratelimit-limit'), refused.headers.get('x-ratelimit-remaining')]).toEqual(['2', '0'])
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBeGreaterThan(before + 50_000)
    expect(refused.error).toMatchObject({ code: 429, metadata: { error_type: 'rate_limit_exceeded', reason: 'requests_per_minute' } })
    expect(refused.json).not.toHaveProperty('service_metadata')
    const messages = await infer(service, { ...echo, max_tokens: 9 }, { key, path: '/messages' })
    expect([messages.status, messages.json]).toEqual([429, expect.objectContaining({ type: 'error' })])
    const responses = await infer(service, { model: 'sandbox/echo', input: 'Hi' }, { key, path: '/responses' })
    expect([responses.status, responses.headers.get('x-generation-id')]).toEqual([429, null])
    // The key may still read its own usage.
    expect((await call(service, 'GET', '/key', { key })).status).toBe(200)
  })

  test('a changed or removed limit applies to the next request', async () => {
    const { key, hash } = await keyWith({ rpm_limit: 1 })
    expect((await infer(service, echo, { key })).status).toBe(200)
    expect((await infer(service, echo, { key })).status).toBe(429)
    const { json } = await call(service, 'PATCH', `/keys/${hash}`, { body: { rpm_limit: null } })
    expect(json).toMatchObject({ data: { rpm_limit: null, tpm_limit: null } })
    expect((await infer(service, echo, { key })).status).toBe(200)
  })
})

test('tokens a minute: 429 once they are used up, whole and streamed', async () => {
  const { key } = await keyWith({ tpm_limit: 10 })
  const long = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'word '.repeat(100) }] }
  expect((await infer(service, { ...long, stream: true }, { key })).status).toBe(200)
  const refused = await infer(service, echo, { key })
  expect([refused.status, refused.error.metadata['reason']]).toEqual([429, 'tokens_per_minute'])
})

test('concurrency: 429 for one request more than a key may have, and again a place when a client leaves', async () => {
  const { key } = await keyWith({})
  const leaving = new AbortController()
  const open = Array.from({ length: 3 }, () =>
    fetch(`${service.api}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(slow),
      signal: leaving.signal,
    }).catch(() => null),
  )
  await until(async () => (await infer(service, echo, { key })).status === 429, 'three at once')
  const refused = await infer(service, echo, { key })
  expect([refused.status, refused.headers.get('retry-after'), refused.error.metadata['reason']]).toEqual([429, '1', 'key_concurrency'])
  leaving.abort()
  await Promise.all(open)
  await until(async () => (await infer(service, echo, { key })).status === 200, 'room')
})

test('requests that fail before they run release what they took', async () => {
  const { key } = await keyWith({})
  for (let request = 0; request < 10; request += 1) {
    expect((await infer(service, '{', { key })).status).toBe(400)
    expect((await infer(service, { ...echo, model: 'sandbox/never' }, { key })).status).toBe(404)
    expect((await infer(service, { model: 'sandbox/error/server', messages: echo.messages }, { key })).status).toBe(200)
    expect((await infer(service, { ...echo, max_tokens: 9 }, { key, path: '/messages/count_tokens' })).status).toBe(200)
  }
  expect((await infer(service, echo, { key })).status).toBe(200)
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  expect(metrics).toMatch(/^patchbay_requests_inside 0$/m)
})

test('503 with Retry-After where the process has no room: health and management go on', async () => {
  const full = await services.start({ config: 'limits: { in_flight: 1, queue: 0 }' })
  const leaving = new AbortController()
  const open = fetch(`${full.api}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${full.inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(slow),
    signal: leaving.signal,
  }).catch(() => null)
  await until(async () => (await infer(full, echo)).status === 503, 'a full service')
  const refused = await infer(full, echo)
  expect([refused.status, refused.headers.get('retry-after'), refused.error.metadata['error_type']]).toEqual([
    503,
    '2',
    'provider_overloaded',
  ])
  expect((await call(full, 'GET', '/presets')).status).toBe(200)
  expect((await fetch(`${full.url}/health/ready`)).status).toBe(200)
  leaving.abort()
  await open
})

test('one key with 120 streams does not block another, which is admitted at once', async () => {
  const shared = await services.start({ config: 'limits: { in_flight: 40 }' })
  const { json } = await call(shared, 'POST', '/keys', { body: { name: 'other' } })
  const leaving = new AbortController()
  const streams = Array.from({ length: 120 }, async () => {
    try {
      return await fetch(`${shared.api}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${shared.inferenceKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...slow, model: 'sandbox/lorem', sandbox: { tokens: 1000, delay_ms: 100 } }),
        signal: leaving.signal,
      })
    } catch {
      return null
    }
  })
  // References are kept, because a response that is garbage-collected is closed.
  const answers = await Promise.all(streams)
  const refused = answers.filter((answer) => answer?.status !== 200)
  expect(refused.map((answer) => [answer?.status, answer?.headers.get('retry-after')])).toEqual(
    Array.from({ length: 120 - 32 }, () => [429, '1']),
  )
  for (let request = 0; request < 10; request += 1)
    expect((await infer(shared, echo, { key: (json as { key: string }).key })).status).toBe(200)
  expect((await infer(shared, echo)).error.metadata['reason']).toBe('key_share')
  leaving.abort()
  expect(answers).toHaveLength(120)
  await until(async () => (await infer(shared, echo)).status === 200, 'room for the key again')
})
