/** Coding agents compress long conversations: Codex with zstd, and others with gzip. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

import { beforeAll, describe, expect, test } from 'bun:test'

import { call, conversationOf, DIALECTS, PATHS, recordOf } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
upstream.script(say('Well.'))
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
limits: { max_body_bytes: 2000000 }
providers:
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
`,
  })
})

/** `call` sends text, so this sends bytes. */
const post = async (path: string, sent: Uint8Array | ReadableStream<Uint8Array>, coding: string, key = service.inferenceKey) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-encoding': coding }
  const response = await fetch(service.api + path, { method: 'POST', headers, body: sent })
  return { status: response.status, headers: response.headers, json: (await response.json()) as Record<string, unknown> }
}

const CODINGS = [
  ['zstd', zstdCompressSync],
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const

describe.each(CODINGS)('%s', (coding, compress) => {
  test.each(DIALECTS)(
    '%s: a request is answered as if it had come uncompressed, and goes to the provider uncompressed',
    async (dialect) => {
      const text = `Hello, Jürgen! ${'Long. '.repeat(20_000)}`
      const body = compress(JSON.stringify({ model: 'fake/one', ...conversationOf(dialect, text) }))
      const answer = await post(PATHS[dialect], body, coding)
      expect([answer.status, JSON.stringify(answer.json).includes('Well.')]).toEqual([200, true])
      const { headers, body: received } = upstream.last
      expect([headers['content-encoding'], JSON.stringify(received['messages']).includes(text)]).toEqual([undefined, true])
    },
  )

  test('a preset is made from a compressed body', async () => {
    const body = compress(JSON.stringify({ model: 'fake/one', instructions: 'Be kind.' }))
    const answer = await post(`/presets/packed-${coding}/responses`, body, coding, service.managementKey)
    expect(answer).toMatchObject({ status: 200, json: { data: { designated_version: { system_prompt: 'Be kind.' } } } })
  })
})

test('a body in chunks, whose length no header tells, is decompressed too', async () => {
  const sent = zstdCompressSync(JSON.stringify({ model: 'fake/one', ...conversationOf('chat', 'Hi') }))
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(sent.subarray(0, 9))
      controller.enqueue(sent.subarray(9))
      controller.close()
    },
  })
  expect((await post('/chat/completions', stream, 'zstd')).status).toBe(200)
})

test('the record counts the bytes of the text and not those that were sent', async () => {
  const text = 'again and '.repeat(10_000)
  const body = JSON.stringify({ model: 'sandbox/echo', ...conversationOf('chat', text) })
  const packed = await post('/chat/completions', zstdCompressSync(body), 'zstd')
  const plain = await call(service, 'POST', '/chat/completions', { key: service.inferenceKey, body })
  const [one, other] = await Promise.all([packed, plain].map((answer) => recordOf(service, answer as typeof plain)))
  expect(one?.['tokens_prompt']).toBe(other?.['tokens_prompt'] as never)
})

test.each(DIALECTS)(
  '%s: a bomb is a 413 that names the limit, and what is no such coding a 400; both are errors of the interface',
  async (dialect) => {
    const before = upstream.exchanges.length
    const bomb = await post(PATHS[dialect], zstdCompressSync(gzipSync(Buffer.alloc(200_000_000))), 'gzip, zstd')
    expect([bomb.status, JSON.stringify(bomb.json)]).toEqual([413, expect.stringContaining('at most 2000000 bytes')])
    const broken = await post(PATHS[dialect], Buffer.from('{}'), 'gzip')
    expect([broken.status, JSON.stringify(broken.json)]).toEqual([400, expect.stringContaining('The body is not valid gzip')])
    const unknown = await post(PATHS[dialect], Buffer.from('{}'), 'compress')
    expect([unknown.status, JSON.stringify(unknown.json)]).toEqual([400, expect.stringContaining('gzip, deflate, br or zstd')])
    expect(upstream.exchanges.length).toBe(before)
  },
)
