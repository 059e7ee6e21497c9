/** Two nodes report their used places to each other: the share of a key is of the places of both. With real processes and stores. */
import { join } from 'node:path'

import { describe, expect, test } from 'bun:test'

import { call, infer, type Callee } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { HAS_REDIS, startRedis } from '../support/redis.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'

const services = useServices()

const PLACES = 40
const request = { model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] }

const metric = async (node: StartedService, name: string): Promise<number> => {
  const text = await (await fetch(`${node.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const startNodes = async (databaseUrl: string, redisUrl: string | null) => {
  const upstream = await startFakeUpstream()
  const config = `
limits: { in_flight: ${PLACES}, queue: 0, loop_lag_ms: 0, store_timeout_ms: 5000 }
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  m/one: { endpoints: [{ provider: fake, model: up }] }
`
  const dataDir = join(services.directory(), 'data')
  const flags = ['--database-url', databaseUrl, ...(redisUrl === null ? [] : ['--redis-url', redisUrl])]
  const first = await services.start({ config, dataDir, flags })
  const second = await services.start({ config, dataDir, flags })
  let held = 0
  upstream.script(async (exchange) => {
    held += 1
    await exchange.gone
    held -= 1
  })
  const makeKey = async (): Promise<string> =>
    ((await call({ ...second, managementKey: first.managementKey }, 'POST', '/keys', { body: { name: 'x' } })).json as { key: string }).key
  /** Sends this many requests at once, which stay until they are released; returns how many were admitted. */
  const hold = async (node: Callee, key: string, many: number): Promise<{ admitted: number; letGo(): void }> => {
    const before = held
    const leaving = new AbortController()
    const statuses: number[] = []
    for (let each = 0; each < many; each += 1)
      void infer(node, request, { key, signal: leaving.signal }).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      )
    await until(() => statuses.length + held - before === many, 'each request to be let in or refused')
    expect(statuses.filter((status) => status !== 429)).toEqual([])
    return { admitted: held - before, letGo: () => leaving.abort() }
  }
  const freeElsewhere = (node: StartedService, free: number): Promise<void> =>
    until(async () => (await metric(node, 'patchbay_places_free_elsewhere')) === free, `${free} free places of the other node`)
  for (const node of [first, second]) await freeElsewhere(node, PLACES)
  /** Fills the first node: 32 places for one key, the others for two more. */
  const fillFirst = async (key: string) => {
    const hog = await hold(first, key, PLACES)
    expect(hog.admitted).toBe(32)
    expect((await hold(first, await makeKey(), 7)).admitted).toBe(7)
    expect((await hold(first, await makeKey(), 1)).admitted).toBe(1)
    await freeElsewhere(second, 0)
    return hog
  }
  return { first, second, makeKey, hold, fillFirst, freeElsewhere }
}

describeEachEngine('a share of the places of two nodes', (engine) => {
  // A SQLite file can only be used by one process.
  if (engine.name === 'sqlite') return

  for (const withRedis of [true, false]) {
    const name = withRedis ? 'Redis' : 'PostgreSQL'
    test.skipIf(withRedis && !HAS_REDIS)(
      `through ${name}: a key that fills one node gets less of the other, a newcomer finds a place, and it gets more when it lets go`,
      async () => {
        const redisUrl = withRedis ? (await startRedis()).url : null
        const nodes = await startNodes((await engine.locate()).databaseUrl ?? '', redisUrl)
        const key = await nodes.makeKey()
        const hog = await nodes.fillFirst(key)
        // The key gets 58 of 80 places while 22 are free. On this node alone it would get 32.
        expect((await nodes.hold(nodes.second, key, PLACES)).admitted).toBe(26)
        expect((await nodes.hold(nodes.second, await nodes.makeKey(), 1)).admitted).toBe(1)
        hog.letGo()
        await nodes.freeElsewhere(nodes.second, 32)
        // The key gets 32 places of this node, beside the newcomer's.
        expect((await nodes.hold(nodes.second, key, PLACES)).admitted).toBe(6)
      },
      120_000,
    )
  }

  describe.skipIf(!HAS_REDIS)('where Redis goes away', () => {
    test('each node keeps to its own share: a key is not without a bound, and nobody is shut out', async () => {
      const relay = await startTcpRelay((await startRedis()).url)
      const nodes = await startNodes((await engine.locate()).databaseUrl ?? '', relay.url)
      const key = await nodes.makeKey()
      await nodes.fillFirst(key)
      relay.cut()
      await until(async () => (await metric(nodes.second, 'patchbay_limit_store_away')) === 1, 'the store to be missed')
      expect((await nodes.hold(nodes.second, key, PLACES)).admitted).toBe(32)
      expect((await nodes.hold(nodes.second, await nodes.makeKey(), 1)).admitted).toBe(1)
      relay.restore()
      await nodes.freeElsewhere(nodes.first, 7)
      relay.close()
    })
  })
})
