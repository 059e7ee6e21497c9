/**
 * Name lookups that do not end: the requests that need them are given up, and no other request waits for them. The runtime looks up names,
 * unpacks bodies and asks for files in the same few threads.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { describe, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { startDeafResolver } from '../support/deaf-resolver.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const spare = await startFakeUpstream()
spare.script(say('from the spare'))
const resolver = await startDeafResolver()

/** More than a machine has processors. */
const NAMES = 40
const names = Array.from({ length: NAMES }, (_, index) => `stalled-${index}.example`)
const provider = (id: string, url: string): string => `  ${id}: { name: ${id}, dialects: [openai-chat], base_url: "${url}/v1" }\n`
const endpoint = (id: string): string => `{ provider: ${id}, model: up }`

const config = (connectSeconds: number): string => `
timeouts: { connect: ${connectSeconds} }
providers:
${names.map((name, index) => provider(`p${index}`, `http://${name}`)).join('')}${provider('spare', spare.url)}models:
  alone/well: { endpoints: [${endpoint('spare')}] }
${names.map((_, index) => `  alone/p${index}: { endpoints: [${endpoint(`p${index}`)}] }\n`).join('')}
  followed/p0: { endpoints: [${endpoint('p0')}, ${endpoint('spare')}] }
`

const body = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hi' }] })

describe.skipIf(resolver === null)('a name lookup of a provider that stalls', () => {
  const within = resolver?.within ?? []

  test('is given up after the time to connect, on each interface, and the next provider answers', async () => {
    const service = await services.start({ within, config: config(0.5) })
    const late = { code: 504, message: 'The provider could not be connected to within 0.5 seconds.' }
    const alone = await infer(service, body('alone/p0'))
    expect(alone.json).toMatchObject({ error: late })
    const streamed = await infer(service, { ...body('alone/p0'), stream: true })
    expect([streamed.text.includes(late.message), streamed.text.endsWith('data: [DONE]\n\n')]).toEqual([true, true])
    const [messages, responses] = await Promise.all([
      infer(service, { ...body('alone/p0'), max_tokens: 10 }, { path: '/messages' }),
      infer(service, { model: 'alone/p0', input: 'Hi' }, { path: '/responses' }),
    ])
    expect([messages.json, responses.json]).toMatchObject([
      { error: { type: 'overloaded_error', error_type: 'timeout' } },
      { status: 'failed', error: { code: 'server_error' } },
    ])
    const followed = await infer(service, body('followed/p0'))
    expect(followed.text).toContain('from the spare')
    expect(resolver?.queries).toBeGreaterThan(0)
  })

  /** Requests that wait for the lookups of that many names; the returned function ends them. */
  const stall = async (service: StartedService, count: number, reached: number): Promise<() => Promise<unknown>> => {
    const before = resolver?.queries ?? 0
    const leaving = new AbortController()
    const stalled = names
      .slice(0, count)
      .map((_, index) => infer(service, body(`alone/p${index}`), { signal: leaving.signal }).catch(() => null))
    await until(() => (resolver?.queries ?? 0) - before >= reached, 'the names to be looked up')
    return () => {
      leaving.abort()
      return Promise.all(stalled)
    }
  }

  test(`holds up nobody else, with ${NAMES} of them: neither compressed bodies, nor other providers, nor management`, async () => {
    const service = await services.start({ within, config: config(3600) })
    const end = await stall(service, NAMES, 2 * NAMES)
    const answer = await fetch(`${service.api}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(body('alone/well'))),
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('from the spare')])
    expect((await call(service, 'GET', '/presets')).status).toBe(200)
    await end()
  })

  test('leaves the service ready, even if it occupies every thread of the runtime', async () => {
    const service = await services.start({ within, config: config(3600), env: { UV_THREADPOOL_SIZE: '2' } })
    const end = await stall(service, 8, 2)
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)
    await end()
  })
})

/** Opens a pipe that nobody writes to, as often as there are arguments: each occupies a thread. Then it unpacks a text. */
const UNPACKING = `
const { execFileSync } = require('node:child_process')
const { open } = require('node:fs')
const { gunzip, gzipSync } = require('node:zlib')
const path = process.argv[1] + '/pipe'
execFileSync('mkfifo', [path])
for (let at = 0; at < 40; at += 1) open(path, 'r', () => undefined)
setTimeout(() => process.exit(1), 20_000)
gunzip(gzipSync('unpacked'), (_, text) => process.stdout.write(text.toString(), () => process.exit(0)))
`

test('40 threads of the runtime may wait, and it goes on unpacking', () => {
  const run = spawnSync(join(import.meta.dir, '../../bin/bun'), ['-e', UNPACKING, services.directory()], { encoding: 'utf8' })
  expect([run.stdout, run.status]).toEqual(['unpacked', 0])
})
