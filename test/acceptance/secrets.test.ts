/** Plants secrets everywhere, and looks for them everywhere else: in storage, logs and responses. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, expect, test } from 'bun:test'

import { call, infer, savePreset } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const ROOT_SECRET = 'root-secret-PLANTED-4f1d9c0b7a6e5d3c'
const CREDENTIAL = 'sk-upstream-PLANTED-8c1f0e9d7b6a5432'
const DATABASE_PASSWORD = 'hunter2-of-the-database'
const OWN_KEY = 'sk-customer-PLANTED-0a1b2c3d4e5f6071'
const PROMPT = 'the prompt PLANTED 1b2c3d4e'
const ANSWER = 'the answer PLANTED 5f6e7d8c'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService
let created: { key: string; data: { hash: string } }
const answers: string[] = []

/** A busy minute of an installation, with every kind of failure. */
beforeAll(async () => {
  service = await services.start({
    env: { PATCHBAY_SECRET: ROOT_SECRET, FAKE_API_KEY: CREDENTIAL },
    flags: ['--log-level', 'debug'],
    config: `
providers:
  fake: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: "\${FAKE_API_KEY}" }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
`,
  })
  created = (await call(service, 'POST', '/keys', { body: { name: 'Planted' } })).json as typeof created
  const messages = [{ role: 'user', content: PROMPT }]
  const ask = async (more: object = {}) => {
    for (const stream of [false, true])
      answers.push((await infer(service, { model: 'fake/one', messages, stream, ...more }, { key: created.key })).text)
  }

  upstream.script(say(ANSWER))
  await ask()
  // A provider whose error message repeats our credential and the prompt.
  const leaky = JSON.stringify({
    error: {
      message: `Incorrect API key provided: ${CREDENTIAL}`,
      code: 'invalid_api_key',
      headers: { authorization: `Bearer ${CREDENTIAL}` },
    },
  })
  for (const status of [400, 401, 403, 500]) {
    upstream.script((exchange) => exchange.answer(status, leaky))
    await ask()
  }
  const encoded = JSON.stringify({ error: { message: `No such header: ${formsOf(CREDENTIAL).join(' ')}` } })
  upstream.script((exchange) => exchange.answer(422, encoded))
  await ask()
  const connection = JSON.stringify({ error: { message: `No connection to postgres://gateway:${DATABASE_PASSWORD}@db:5432/logs` } })
  for (const status of [400, 500]) {
    upstream.script((exchange) => exchange.answer(status, connection))
    await ask()
  }
  upstream.script((exchange) => exchange.stream([leaky]))
  await ask()
  upstream.script((exchange) => exchange.reset())
  await ask()
  await ask({ temperature: 'hot' })
  answers.push((await infer(service, `{"model":"fake/one","messages":[{"content":"${PROMPT}"`, { key: created.key })).text)
  answers.push((await call(service, 'POST', `/presets/${created.key}/responses`, { body: '{' })).text)
  answers.push((await call(service, 'GET', `/presets?limit=${created.key}`)).text)
  answers.push((await call(service, 'GET', '/keys')).text, (await call(service, 'GET', '/key', { key: created.key })).text)
  await savePreset(service, 'planted', { model: 'fake/one', instructions: 'Be kind.' })
  // The customer's own key: entered, used, echoed, refused by the provider, changed, read, deleted.
  const entered = await call(service, 'POST', '/byok', { body: { provider: 'fake', key: OWN_KEY, name: 'Planted' } })
  const { id } = (entered.json as { data: { id: string } }).data
  answers.push(entered.text)
  upstream.script(say(ANSWER))
  await ask({ debug: { echo_upstream_body: true } })
  for (const text of [
    leaky,
    leaky.replaceAll(CREDENTIAL, OWN_KEY),
    leaky.replaceAll(CREDENTIAL, Buffer.from(OWN_KEY).toString('base64')),
  ]) {
    for (const status of [400, 401]) {
      upstream.script((exchange) => exchange.answer(status, text))
      await ask({ debug: { echo_upstream_body: true } })
    }
  }
  answers.push((await call(service, 'PATCH', `/byok/${id}`, { body: { key: `${OWN_KEY}-second` } })).text)
  for (const path of ['/byok', `/byok/${id}`, '/audit-log?limit=100', '/activity', '/workspaces', '/credits']) {
    answers.push((await call(service, 'GET', path)).text)
  }
  answers.push((await call(service, 'POST', '/byok', { body: { provider: 'never', key: OWN_KEY } })).text)
  await call(service, 'DELETE', `/byok/${id}`)
  await call(service, 'POST', '/byok', { body: { provider: 'fake', key: OWN_KEY } })
  answers.push(await (await fetch(`${service.url}/metrics`)).text())
  await call(service, 'DELETE', `/keys/${created.data.hash}`)
})

const stored = (dataDir: string): string =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')

/** As it is, and in the encodings in which it might be written on the way. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
]

const clientSecrets = (): readonly string[] => [service.managementKey, service.inferenceKey, created.key]

test('the database holds no API key, no credential of a provider and no root secret, running or stopped', async () => {
  expect(stored(service.dataDir).length).toBeGreaterThan(10_000)
  for (const secret of [...clientSecrets(), CREDENTIAL, OWN_KEY, ROOT_SECRET])
    expect(formsOf(secret).filter((form) => stored(service.dataDir).includes(form))).toEqual([])
})

test('the database holds neither prompts nor answers', () => {
  for (const text of [PROMPT, ANSWER]) expect(stored(service.dataDir).includes(text)).toBe(false)
})

test("no answer repeats a provider's credential, however it is encoded, another key or the root secret", () => {
  expect(answers.join('')).toContain(ANSWER)
  expect(answers.join('')).toContain('No such header: [redacted]')
  for (const secret of [...formsOf(CREDENTIAL), OWN_KEY, ROOT_SECRET, service.managementKey, service.inferenceKey])
    expect(answers.join('\n').includes(secret)).toBe(false)
})

test('no answer, log line or stored record repeats the password of an address in a failure of a provider', () => {
  expect(answers.join('')).toContain('No connection to postgres://[redacted]@db:5432/logs')
  for (const text of [answers.join('\n'), service.stderr()]) expect(text.includes(DATABASE_PASSWORD)).toBe(false)
  expect(stored(service.dataDir).includes(DATABASE_PASSWORD)).toBe(false)
})

test('no log line holds a key, a credential, the root secret, a prompt or an answer, at the most verbose level', async () => {
  await service.stop()
  const logged = service.stderr()
  expect(logged.split('\n').length).toBeGreaterThan(10)
  for (const secret of [...clientSecrets(), CREDENTIAL, OWN_KEY, ROOT_SECRET, PROMPT, ANSWER]) expect(logged.includes(secret)).toBe(false)
  for (const line of logged.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
})

test('stdout shows the first keys once, and nothing else', () => {
  expect(
    service
      .stdout()
      .split('\n')
      .filter((line) => !/^(?:patchbay ready |management key |inference key |curl |(?:xdg-)?open |$)/.test(line)),
  ).toEqual([])
  expect(service.stdout().includes(created.key)).toBe(false)
})

test('a stopped database holds no secret either', () => {
  for (const secret of [...clientSecrets(), CREDENTIAL, OWN_KEY, ROOT_SECRET, PROMPT, ANSWER])
    expect(stored(service.dataDir).includes(secret)).toBe(false)
})
