/** `patchbay secret rotate`: everything keeps working, at whatever moment it is killed. */
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, setDefaultTimeout, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const OWN = 'sk-own-credential-aaaaaaaaaaaa'

// Each test has several starts, and rotations that wait for running services.
setDefaultTimeout(300_000)

const services = useServices()
const fake = await startFakeUpstream()
fake.script(say('Hello.'))

const TOOLS = [{ type: 'mcp', server_label: 'crm', server_url: 'https://mcp.example.com', authorization: 'tool-credential' }]

const CONFIG = `
providers:
  fake: { dialects: [openai-chat], base_url: "${fake.url}", api_key: sk-shared-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one }] }
`

const start = async (dataDir?: string, env?: Record<string, string>): Promise<StartedService> =>
  services.start({ config: CONFIG, ...(dataDir === undefined ? {} : { dataDir }), ...(env === undefined ? {} : { env }) })

const withOwnKey = async (env?: Record<string, string>): Promise<StartedService> => {
  const service = await start(undefined, env)
  expect((await call(service, 'POST', '/byok', { body: { provider: 'fake', key: OWN } })).status).toBe(201)
  expect((await call(service, 'POST', '/presets/crm/responses', { body: { model: 'fake/one', tools: TOOLS } })).status).toBe(200)
  return service
}

/** The tools include their credential. */
const presetIn = async (service: StartedService, key?: string): Promise<unknown> =>
  (await call(service, 'GET', '/presets/crm', key === undefined ? {} : { key })).preset.designated_version.config['tools']

/** The key that the provider received for a request with this API key, or the status if the request was refused. */
const keyUsed = async (service: StartedService, key: string): Promise<string | number | undefined> => {
  const { status } = await infer(service, { model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }] }, { key })
  return status === 200 ? fake.last.headers['authorization']?.replace('Bearer ', '') : status
}

const secretsIn = (dataDir: string): string[] => readFileSync(join(dataDir, 'secret'), 'utf8').trim().split('\n')
const secretVerb = (service: StartedService, verb: string, ...more: string[]) =>
  services.run(['secret', verb, '--data-dir', service.dataDir, ...more])

test('beside a running service: API keys and provider keys go on, before and after, and a key made later works', async () => {
  const service = await withOwnKey()
  const [first] = secretsIn(service.dataDir)
  const rotated = await secretVerb(service, 'rotate')
  expect([rotated.code, rotated.stderr]).toEqual([0, ''])
  expect(rotated.stdout).toContain('rotated: 1 provider key sealed anew')
  expect(secretsIn(service.dataDir)).toEqual([expect.not.stringMatching(first ?? ''), first ?? ''])
  expect(statSync(join(service.dataDir, 'secret')).mode & 0o777).toBe(0o600)
  expect(await keyUsed(service, service.inferenceKey)).toBe(OWN)
  const made = await services.run(['keys', 'create', '--kind=inference', '--name=later', '--data-dir', service.dataDir])
  await until(async () => (await keyUsed(service, made.stdout.trim())) === OWN, 'the new key')
  expect(await keyUsed(service, service.inferenceKey)).toBe(OWN)
  // The management key has not been used since the rotation; after this it has.
  const early = await secretVerb(service, 'retire')
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('1 API keys have not been used since the rotation')])
  expect((await call(service, 'GET', '/keys')).status).toBe(200)
  expect((await secretVerb(service, 'retire')).code).toBe(0)
  expect(secretsIn(service.dataDir)).toHaveLength(1)
  await until(async () => (await call(service, 'GET', '/keys')).status === 200, 'the management key')
  await service.stop()
  const again = await start(service.dataDir)
  expect(await keyUsed(again, service.inferenceKey)).toBe(OWN)
  expect(await presetIn(again, service.managementKey)).toEqual(TOOLS)
  expect((await call(again, 'GET', '/audit-log?object_type=root_secret', { key: service.managementKey })).json).toMatchObject({
    total_count: 2,
  })
  for (const secret of secretsIn(service.dataDir)) expect(service.stderr() + again.stderr()).not.toContain(secret)
})

describe('killed', () => {
  test.each(['add', 'announce', 'rewrap', 'check', 'done'])(
    'before step "%s": all goes on, no secret that something is sealed under is forgotten, and running it again finishes it',
    async (step) => {
      const service = await withOwnKey()
      await service.stop()
      const script = join(import.meta.dir, '../../src/cli/testing/rotate-until.ts')
      const killed = spawnSync(process.execPath, [script, service.dataDir, step])
      expect(killed.signal).toBe('SIGKILL')
      const between = await start(service.dataDir)
      expect(await keyUsed(between, service.inferenceKey)).toBe(OWN)
      expect(await presetIn(between, service.managementKey)).toEqual(TOOLS)
      await between.stop()
      if (step !== 'done') expect((await secretVerb(service, 'retire', '--force')).code).toBe(2)
      expect((await secretVerb(service, 'rotate')).code).toBe(0)
      // If it was killed at the very end there was nothing left to finish, so the next run was a second rotation.
      expect(secretsIn(service.dataDir)).toHaveLength(step === 'done' ? 3 : 2)
      const after = await start(service.dataDir)
      expect(await keyUsed(after, service.inferenceKey)).toBe(OWN)
      expect(await presetIn(after, service.managementKey)).toEqual(TOOLS)
      await after.stop()
      expect((await secretVerb(service, 'retire')).code).toBe(0)
    },
  )
})

test('with secrets by variable: both are valid between, and only the new one after', async () => {
  const [old, fresh] = ['o'.repeat(40), 'n'.repeat(40)]
  const service = await withOwnKey({ PATCHBAY_SECRET: old })
  await service.stop()
  const at = ['--data-dir', service.dataDir]
  const alone = await services.run(['secret', 'rotate', ...at], { PATCHBAY_SECRET: old })
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('PATCHBAY_SECRET_PREVIOUS')])
  const both = { PATCHBAY_SECRET: fresh, PATCHBAY_SECRET_PREVIOUS: old }
  expect((await services.run(['secret', 'rotate', ...at], both)).code).toBe(0)
  const again = await services.run(['secret', 'rotate', ...at], both)
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('rotated already')])
  const between = await start(service.dataDir, both)
  expect(await keyUsed(between, service.inferenceKey)).toBe(OWN)
  await between.stop()
  expect((await services.run(['secret', 'retire', '--force', ...at], both)).code).toBe(0)
  const after = await start(service.dataDir, { PATCHBAY_SECRET: fresh })
  expect(await keyUsed(after, service.inferenceKey)).toBe(OWN)
  // It was not used between the two rotations, so its digest is still made with the old secret.
  expect((await call(after, 'GET', '/keys', { key: service.managementKey })).status).toBe(401)
  await after.stop()
  const refused = await services.run(['serve', '--port', '0', ...at], { PATCHBAY_SECRET: old })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('PATCHBAY_SECRET is not the root secret')])
})
