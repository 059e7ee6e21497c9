/** Three nodes on one PostgreSQL and one Redis behind a balancer, as docs/nodes.md starts them. Real processes, real time. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client } from 'pg'

import { call, type Callee, createKey, infer, savePreset } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { patient } from '../support/patience.ts'
import { HAS_REDIS, startRedis } from '../support/redis.ts'
import { until, useServices } from '../support/started-service.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'

const ROOT = join(import.meta.dir, '../..')
const services = useServices()
const upstream = await startFakeUpstream()

/** 2 tokens in and 100 out, at 1 and 2 dollars per million: no more than the hold for it. */
const COST = 0.000202
const priced = { model: 'priced/one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }
const free = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }

const config = `
limits: { loop_lag_ms: 0, store_timeout_ms: 2000 }
providers:
  priced: { name: Priced, dialects: [openai-chat], base_url: "${upstream.url}" }
  failing: { name: Failing, dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  priced/two:
    endpoints: [{ provider: failing, model: broken }, { provider: priced, model: one }]
  priced/one:
    endpoints: [{ provider: priced, model: one, prices: { prompt: 1, completion: 2 } }]
`

interface NodeProcess extends Callee {
  readonly pid: number
}

interface ThreeNodes {
  /** The base of requests that go through the balancer. */
  readonly all: Callee
  /** The nodes that are running now. */
  nodes(): readonly NodeProcess[]
  shown(): string
  signal(name: NodeJS.Signals): void
  readonly dataDir: string
  readonly databaseUrl: string
  /** The flags that each node is started with, except its port. */
  readonly flags: readonly string[]
}

describeEachEngine('three nodes', (engine) => {
  // A SQLite file can only be used by one process.
  if (engine.name === 'sqlite') return

  describe.skipIf(!HAS_REDIS)('with Redis', () => {
    let relay: TcpRelay
    let three: ThreeNodes
    const children: { kill(signal: NodeJS.Signals): unknown }[] = []
    afterAll(() => {
      for (const child of children) child.kill('SIGKILL')
      for (const { pid } of three.nodes()) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
      relay.close()
    })

    const start = async (): Promise<ThreeNodes> => {
      const { databaseUrl } = await engine.locate()
      const [dataDir, configPath] = [join(services.directory(), 'data'), join(services.directory(), 'patchbay.yaml')]
      writeFileSync(configPath, config)
      const flags = [
        '--port',
        '0',
        '--data-dir',
        dataDir,
        '--config',
        configPath,
        '--database-url',
        databaseUrl ?? '',
        '--redis-url',
        relay.url,
      ]
      const child = spawn(process.execPath, [join(ROOT, 'scripts/three-nodes.ts'), '--port', '0', ...flags], {
        cwd: ROOT,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      children.push(child)
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      await until(() => /^patchbay ready /m.test(text), 'the balancer', patient(10_000))
      const found = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? ''
      const keys = { managementKey: found(/^management key (\S+)/m), inferenceKey: found(/^inference key (\S+)/m) }
      const at = (url: string): Callee => ({ ...keys, api: `${url}/api/v1` })
      return {
        all: at(found(/^patchbay ready (\S+)/m)),
        nodes: () => {
          const newest = new Map<string, NodeProcess>()
          for (const [, number = '', pid, url = ''] of text.matchAll(/^node (\d) pid (\d+) (\S+)$/gm))
            newest.set(number, { ...at(url), pid: Number(pid) })
          return [...newest.values()]
        },
        shown: () => text,
        signal: (name) => void child.kill(name),
        dataDir,
        databaseUrl: databaseUrl ?? '',
        flags,
      }
    }

    beforeAll(async () => {
      relay = await startTcpRelay((await startRedis()).url)
      three = await start()
      const answer = {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'one',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 2, completion_tokens: 100, total_tokens: 102 },
      }
      upstream.script((exchange) =>
        exchange.body.model === 'broken'
          ? exchange.answer(503, '{}')
          : exchange.answer(200, JSON.stringify(answer), { 'content-type': 'application/json' }),
      )
      await threeSeen()
    })

    /** A node that has left is still counted until the others next exchange news, and nobody can use its part of a limit until then. */
    const threeSeen = (): Promise<void> =>
      until(
        async () => (await Promise.all(three.nodes().map(nodesSeenBy))).every((seen) => seen === 3),
        'three nodes that see one another',
        patient(5000),
      )

    const makeKey = async (more: object = {}): Promise<{ key: string; hash: string }> => {
      const { key, data } = await createKey(three.all, { name: 'x', ...more })
      return { key, hash: data.hash }
    }

    /** Sends this many requests at once, to these nodes in turn; returns how many were 200. */
    const many = async (count: number, over: readonly Callee[], body: object, key: string): Promise<number> => {
      const statuses = await Promise.all(
        Array.from(
          { length: count },
          async (_, index) => (await infer(over[index % over.length] ?? three.all, { ...body }, { key })).status,
        ),
      )
      expect(statuses.filter((status) => status !== 200 && status !== 429 && status !== 402 && status !== 403)).toEqual([])
      return statuses.filter((status) => status === 200).length
    }

    test('a key that one node revokes is refused by all, and a preset that one changes is changed on all, within a second', async () => {
      const [first, ...others] = three.nodes()
      const { key, hash } = await makeKey()
      await savePreset(three.all, 'shared', { model: 'sandbox/echo', instructions: 'one' })
      const preset = { ...free, model: '@preset/shared' }
      for (const node of others) expect((await infer(node, preset, { key })).status).toBe(200)
      expect((await savePreset(first ?? three.all, 'shared', { model: 'sandbox/error/server' })).status).toBe(200)
      const savedAt = performance.now()
      for (const node of others)
        await until(async () => (await infer(node, preset, { key })).text.includes('"error"'), 'the new version', patient(1000))
      expect((await call(first ?? three.all, 'DELETE', `/keys/${hash}`)).status).toBe(200)
      for (const node of others) await until(async () => (await infer(node, preset, { key })).status === 401, 'the refusal', patient(1000))
      // Both together take some 10 ms on a quiet machine.
      expect(performance.now() - savedAt).toBeLessThan(patient(2000))
    })

    test('a provider that fails at one node is asked by no other: they know it by what that node tells', async () => {
      const [first = three.all, ...others] = three.nodes()
      const asked = (): number => upstream.exchanges.filter(({ body }) => body.model === 'broken').length
      const body = { model: 'priced/two', messages: [{ role: 'user', content: 'Hi' }], provider: { order: ['failing', 'priced'] } }
      const breakerAt = async (node: Callee): Promise<string> => {
        const { json } = await call(node, 'GET', '/providers/health')
        const { data } = json as { data: readonly { slug: string; breaker: { state: string } }[] }
        return data.find(({ slug }) => slug === 'failing')?.breaker.state ?? 'unknown'
      }
      // A node only avoids a provider after it has seen that another one works.
      for (const node of others) expect((await infer(node, { ...body, provider: { only: ['priced'] } })).status).toBe(200)
      await until(
        async () => {
          expect((await infer(first, body)).status).toBe(200)
          return (await breakerAt(first)) === 'open'
        },
        'the breaker of the node that asked',
        patient(3000),
      )
      const before = asked()
      expect(before).toBeGreaterThan(0)
      for (const node of others) await until(async () => (await breakerAt(node)) === 'open', 'what the first one tells', patient(3000))
      for (const node of others) expect((await infer(node, body)).status).toBe(200)
      expect(asked()).toBe(before)
    })

    test('a rate of 300 a minute lets in 300 over all nodes, within two in a hundred and what time gives back', async () => {
      const { key } = await makeKey({ rpm_limit: 300 })
      const startedAt = performance.now()
      const admitted = await many(900, three.nodes(), free, key)
      const givenBack = Math.ceil((performance.now() - startedAt) / 200)
      expect(admitted).toBeGreaterThanOrEqual(300)
      expect(admitted).toBeLessThanOrEqual(306 + givenBack)
    })

    test('a node whose clock is five seconds ahead counts with the others, and serves', async () => {
      const child = Bun.spawn(
        [
          process.execPath,
          '--preload',
          join(ROOT, 'test/support/programs/clock-ahead.ts'),
          join(ROOT, 'src/main.ts'),
          'serve',
          '--port',
          '0',
          ...three.flags,
        ],
        { stderr: 'ignore' },
      )
      children.push(child)
      let text = ''
      const reading = (async () => {
        for await (const bytes of child.stdout) text += new TextDecoder().decode(bytes)
      })()
      await until(() => text.includes('patchbay ready'), 'the node', patient(10_000))
      const ahead: Callee = { ...three.all, api: `${/ready (\S+)/.exec(text)?.[1]}/api/v1` }
      const { key } = await makeKey({ rpm_limit: 60 })
      const startedAt = performance.now()
      const admitted = await many(150, [ahead, ...three.nodes()], free, key)
      expect(admitted).toBeGreaterThanOrEqual(60)
      expect(admitted).toBeLessThanOrEqual(62 + Math.ceil((performance.now() - startedAt) / 1000))
      // Its holds are made and settled by nodes whose clocks differ.
      const spender = await makeKey({ limit: 100 * COST })
      expect(await many(20, [ahead, ...three.nodes()], priced, spender.key)).toBe(20)
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
      await reading
    })

    test('a budget is spent by all nodes together, and not one request more', async () => {
      const { key, hash } = await makeKey({ limit: 50 * COST })
      let admitted = 0
      await until(
        async () => {
          admitted += await many(60, three.nodes(), priced, key)
          const { status } = await infer(three.all, priced, { key })
          if (status === 200) admitted += 1
          return status === 403
        },
        'a spent budget',
        patient(6000),
      )
      expect(upstream.exchanges.length).toBeGreaterThanOrEqual(admitted)
      expect(admitted).toBeLessThanOrEqual(50)
      const usage = async (): Promise<number> =>
        ((await call(three.all, 'GET', `/keys/${hash}`)).json as { data: { usage: number } }).data.usage
      await until(async () => Math.abs((await usage()) - admitted * COST) < 1e-9, 'what was spent', patient(2000))
      const audit = await services.run(['ledger', 'audit', '--data-dir', three.dataDir, '--database-url', three.databaseUrl])
      expect([audit.code, audit.stdout]).toEqual([0, expect.not.stringContaining('WRONG')])
    })

    for (const partition of ['cut', 'hang'] as const) {
      test(`where Redis is away (${partition}), each node keeps to its part and nothing else fails; then they count together again`, async () => {
        const limited = await makeKey({ rpm_limit: 90 })
        const unlimited = await makeKey()
        await threeSeen()
        relay[partition]()
        const startedAt = performance.now()
        const admitted = await many(270, three.nodes(), free, limited.key)
        const givenBack = Math.ceil(((performance.now() - startedAt) / 60_000) * 90)
        expect(admitted).toBeGreaterThanOrEqual(90)
        expect(admitted).toBeLessThanOrEqual(90 + givenBack + 3)
        expect(await many(30, three.nodes(), free, unlimited.key)).toBe(30)
        for (const node of three.nodes()) expect(await metric(node, 'patchbay_limit_store_away')).toBe(1)
        relay.restore()
        await until(
          async () =>
            (await Promise.all(three.nodes().map((node) => metric(node, 'patchbay_limit_store_away')))).every((away) => away === 0),
          'the store to be used again',
          patient(3000),
        )
        const again = await makeKey({ rpm_limit: 90 })
        const secondAt = performance.now()
        const together = await many(270, three.nodes(), free, again.key)
        expect(together).toBeGreaterThanOrEqual(90)
        expect(together).toBeLessThanOrEqual(92 + Math.ceil(((performance.now() - secondAt) / 60_000) * 90))
      })
    }

    test('a rolling restart loses no request of a client that tries again', async () => {
      let isOver = false
      let answered = 0
      const askOn = async (): Promise<void> => {
        while (!isOver) {
          for (let tries = 1; ; tries += 1) {
            const status = await infer(three.all, free, { headers: { connection: 'close' } }).then(
              (answer) => answer.status,
              () => 0,
            )
            if (status === 200) break
            if (tries === 20) throw new Error(`A request was lost: ${status}.`)
            await Bun.sleep(50)
          }
          answered += 1
        }
      }
      const clients = Array.from({ length: 6 }, askOn)
      const before = three.nodes().map(({ pid }) => pid)
      three.signal('SIGHUP')
      await until(() => three.shown().includes('all nodes were restarted'), 'the restart', patient(10_000))
      isOver = true
      await Promise.all(clients)
      expect(three.nodes().filter(({ pid }) => before.includes(pid))).toEqual([])
      expect(answered).toBeGreaterThan(10)
    })

    test('a node that is killed with 200 holds: the others go on, and within 90 seconds nothing is held any more', async () => {
      const { key } = await makeKey({ limit: 10 })
      let waiting = 0
      upstream.script(async (exchange) => {
        waiting += 1
        await exchange.gone
      })
      const [doomed, ...others] = three.nodes()
      const lost = Array.from({ length: 200 }, () => infer(doomed ?? three.all, priced, { key }).catch(() => null))
      await until(() => waiting === 200, 'two hundred requests that run', patient(5000))
      process.kill(doomed?.pid ?? 0, 'SIGKILL')
      await Promise.all(lost)
      const killedAt = performance.now()
      for (const node of others) expect((await infer(node, free)).status).toBe(200)
      expect(await heldIn(three.databaseUrl)).toBe(200)
      await until(async () => (await heldIn(three.databaseUrl)) === 0, 'the holds of the dead node', 120_000)
      expect(performance.now() - killedAt).toBeLessThan(100_000)
      const audit = await services.run(['ledger', 'audit', '--data-dir', three.dataDir, '--database-url', three.databaseUrl])
      expect([audit.code, audit.stdout]).toEqual([0, expect.not.stringContaining('WRONG')])
    }, 300_000)
  })
})

const metric = async (node: Callee, name: string): Promise<number> => {
  const text = await (await fetch(node.api.replace('/api/v1', '/metrics'))).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const nodesSeenBy = (node: Callee): Promise<number> => metric(node, 'patchbay_nodes')

/** The number of requests with a hold. */
const heldIn = async (databaseUrl: string): Promise<number> => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ held: number }>(`select count(*)::int as held from hold where state = 'held'`)
    return rows[0]?.held ?? 0
  } finally {
    await client.end()
  }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
