/** A service whose database goes away and comes back: requests that need only cached data go on, and others report what is wrong. */
import { afterEach, expect, test } from 'bun:test'

import { call, createKey, infer, savePreset } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { patient } from '../support/patience.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'

const services = useServices()

interface KeyWire {
  readonly data: { readonly budgets: readonly { readonly spend_usd: number }[] }
}

describeEachEngine('storage that goes away', (engine) => {
  // SQLite's database is a file used by the same process, so there is no connection to cut.
  if (engine.name === 'sqlite') return

  const relays: TcpRelay[] = []
  afterEach(() => relays.splice(0).forEach((relay) => relay.close()))

  const prepare = async (): Promise<{ service: StartedService; relay: TcpRelay; databaseUrl: string }> => {
    const { databaseUrl } = await engine.locate()
    const relay = await startTcpRelay(databaseUrl ?? '')
    relays.push(relay)
    const service = await services.start({ flags: ['--database-url', relay.url] })
    return { service, relay, databaseUrl: databaseUrl ?? '' }
  }

  const body = { model: '@preset/known', messages: [{ role: 'user', content: 'Hi' }] }

  const makeKey = async (service: StartedService, more: object = {}): Promise<{ key: string; hash: string }> => {
    const made = await createKey(service, { name: 'x', ...more })
    return { key: made.key, hash: made.data.hash }
  }

  test('200: known keys and presets go on, though an unrelated write came just before; 503 says why where nothing is known', async () => {
    const { service, relay } = await prepare()
    await savePreset(service, 'known', { model: 'sandbox/echo' })
    const [known, fresh] = [await makeKey(service), await makeKey(service)]
    expect((await infer(service, body, { key: known.key })).status).toBe(200)
    // Each of these makes every process reload its cached data.
    await savePreset(service, 'unrelated', { model: 'sandbox/echo' })
    await call(service, 'POST', '/guardrails', { body: { name: 'unrelated' } })
    await makeKey(service)
    relay.cut()
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503, 'not ready')
    for (let round = 0; round < 3; round += 1) expect((await infer(service, body, { key: known.key })).status).toBe(200)
    for (const answer of [
      await infer(service, body, { key: fresh.key }),
      await infer(service, { ...body, model: '@preset/never-used' }, { key: known.key }),
      await call(service, 'GET', '/presets'),
    ]) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      expect(answer.text).toContain("The service's database cannot be reached")
    }
    relay.restore()
    await until(async () => (await infer(service, body, { key: fresh.key })).status === 200, 'storage to be used again')
  })

  test('200: known keys and presets go on while the database hangs, though a write came just before, and nobody waits long', async () => {
    const { service, relay } = await prepare()
    await savePreset(service, 'known', { model: 'sandbox/echo' })
    const keys = await Promise.all(Array.from({ length: 20 }, () => makeKey(service)))
    for (const { key } of keys) expect((await infer(service, body, { key })).status).toBe(200)
    await savePreset(service, 'unrelated', { model: 'sandbox/echo' })
    relay.hang()
    const startedAt = performance.now()
    const answers = await Promise.all(keys.map(({ key }) => infer(service, body, { key })))
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200))
    // A query that hangs is given up after five seconds.
    expect(performance.now() - startedAt).toBeLessThan(4000)
    relay.restore()
  })

  test('503 within seconds for keys with a limit while the database hangs, however many come; what was held for them is free again', async () => {
    const { service, relay } = await prepare()
    const bounded = await makeKey(service, { limit: 1 })
    const echo = { ...body, model: 'sandbox/echo' }
    const ask = async (): Promise<{ status: number; ms: number }> => {
      const startedAt = performance.now()
      const { status } = await infer(service, echo, { key: bounded.key })
      return { status, ms: performance.now() - startedAt }
    }
    expect((await ask()).status).toBe(200)
    relay.hang()
    // Waves of requests, each of which would wait for a connection of its own.
    const waves: Promise<{ status: number; ms: number }>[] = []
    for (let wave = 0; wave < 14; wave += 1) {
      waves.push(...Array.from({ length: 5 }, ask))
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    const answers = await Promise.all(waves)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(4500)
    relay.restore()
    await until(async () => (await ask()).status === 200, 'storage to be used again')
    const heldFor = async (): Promise<unknown> => {
      const { spend_usd } = ((await call(service, 'GET', '/key', { key: bounded.key })).json as KeyWire).data.budgets[0] ?? {}
      return spend_usd
    }
    await until(async () => (await heldFor()) === 0, 'nothing to be held', patient(20_000))
  })

  test('exit 0 within ten seconds of SIGTERM while the database hangs; what it has not taken is recorded at the next start', async () => {
    const { service, relay, databaseUrl } = await prepare()
    const known = await makeKey(service)
    const echo = { ...body, model: 'sandbox/echo' }
    expect((await infer(service, echo, { key: known.key })).status).toBe(200)
    relay.hang()
    const id = (await infer(service, echo, { key: known.key })).headers.get('x-generation-id') ?? ''
    const startedAt = performance.now()
    expect(await service.stop()).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(patient(10_000))
    const next = await services.start({ dataDir: service.dataDir, flags: ['--database-url', databaseUrl] })
    expect((await call(next, 'GET', `/generation?id=${id}`, { key: service.managementKey })).status).toBe(200)
  })

  test('200: known keys and presets go on when the configuration is reloaded meanwhile', async () => {
    const { service, relay } = await prepare()
    await savePreset(service, 'known', { model: 'sandbox/echo' })
    expect((await infer(service, body)).status).toBe(200)
    relay.cut()
    await until(async () => (await fetch(`${service.url}/health/ready`)).status === 503, 'not ready')
    service.signal('SIGHUP')
    await until(() => service.stderr().includes('configuration reloaded'), 'the reload')
    for (let round = 0; round < 3; round += 1) expect((await infer(service, body)).status).toBe(200)
  })

  test('401: a key that this process revoked is refused at once and during an outage; one that another revoked, once storage is back', async () => {
    const { service, relay, databaseUrl } = await prepare()
    await savePreset(service, 'known', { model: 'sandbox/echo' })
    const [here, elsewhere, untouched] = [await makeKey(service), await makeKey(service), await makeKey(service)]
    const status = async ({ key }: { key: string }): Promise<number> => (await infer(service, body, { key })).status
    for (const key of [here, elsewhere, untouched]) expect(await status(key)).toBe(200)
    expect((await call(service, 'DELETE', `/keys/${here.hash}`)).status).toBe(200)
    expect(await status(here)).toBe(401)
    const disabled = await makeKey(service)
    expect(await status(disabled)).toBe(200)
    expect((await call(service, 'PATCH', `/keys/${disabled.hash}`, { body: { disabled: true } })).status).toBe(200)
    relay.cut()
    // Its state is known to be dead or is unknown: it is never served as before.
    for (const key of [here, disabled]) expect([401, 503]).toContain(await status(key))
    expect(await status(untouched)).toBe(200)
    const revoked = await services.run(['keys', 'revoke', elsewhere.hash, '--data-dir', service.dataDir, '--database-url', databaseUrl])
    expect(revoked.code).toBe(0)
    relay.restore()
    await until(async () => (await status(elsewhere)) === 401, 'the refusal')
    expect([await status(here), await status(disabled), await status(untouched)]).toEqual([401, 401, 200])
  })
})
