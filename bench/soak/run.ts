/**
 * `npm run soak -- --minutes 30 [--requests-per-second 40 | --loops 200] [--seed 1] [--database-url postgres://…]`: runs a service with
 * clients that disconnect, read slowly and run tools, and with providers that fail. After the warm-up, memory must stay within 5 %, and
 * when all clients are gone nothing of theirs may be left: no hold, connection, timer or listener. Exits with code 1 otherwise.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { seeded } from '../../test/support/seeded.ts'
import { type Child, startChild, stopAllChildren } from '../child.ts'
import { request, type Service, slowLoop } from './clients.ts'
import type { Probe } from './probe.ts'

const ROOT = join(import.meta.dirname, '../..')
const BUN = join(ROOT, 'bin/bun')
const READY_MS = 30_000
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    'requests-per-second': { type: 'string', default: '40' },
    loops: { type: 'string' },
    seed: { type: 'string', default: '1' },
    'database-url': { type: 'string' },
  },
})
const totalMs = Number(values.minutes) * 60_000
/** Sends only tool loops, this many at any time. */
const loops = values.loops === undefined ? null : Number(values.loops)
const pauseMs = loops === null ? 1000 / Number(values['requests-per-second']) : 0
/** If the service lags, requests wait, but no more than arrive in four seconds. */
const openMax = loops ?? 4 * Number(values['requests-per-second'])
/**
 * Caches fill, code is compiled, pools grow: the time for that depends on the machine and its other work. The warm-up goes on, part by
 * part, until memory under load no longer grows, for three fifths of the time at most.
 */
const WARM_UP_PARTS = { share: 0.1, atLeast: 3, atMost: 6 }
const SETTLED = 1.02
const SAMPLES = 60
const FLAT = 1.05

const directory = mkdtempSync(join(tmpdir(), 'patchbay-soak-'))
const probeFile = join(directory, 'probe.json')

const config = (upstream: string): string => `providers:
  soak: { name: Soak, dialects: [openai-chat], base_url: ${upstream}/v1, api_key: k }
  spare: { name: Spare, dialects: [openai-chat], base_url: ${upstream}/spare/v1, api_key: k }
models:
${['fine', 'long', 'cut', 'reset', 'garbage', 'unavailable', 'limited', 'closed']
  .map((model) => `  soak/${model}: { endpoints: [{ provider: soak, model: ${model}, prices: { prompt: 1, completion: 2 } }] }`)
  .join('\n')}
  soak/saved:
    endpoints:
      - { provider: soak, model: unavailable, prices: { prompt: 1, completion: 2 } }
      - { provider: spare, model: fine, prices: { prompt: 2, completion: 3 } }
limits: { loop_lag_ms: 0 }
tools: { web_search: { engines: { house: { kind: searxng, url: ${upstream} } } } }
`

const start = async (): Promise<{ readonly child: Child; readonly service: Service }> => {
  const upstream = startChild({ command: [BUN, join(import.meta.dirname, 'upstream.ts'), '--child'] })
  const address = addressIn(await upstream.waitForLine(/^upstream ready /, READY_MS))
  const file = join(directory, 'patchbay.yaml')
  writeFileSync(file, config(address))
  const database = values['database-url'] === undefined ? [] : ['--database-url', values['database-url']]
  const child = startChild({
    command: [
      BUN,
      '--preload',
      join(import.meta.dirname, 'probe.ts'),
      join(ROOT, 'bin/launch.ts'),
      'serve',
      '--port',
      '0',
      '--data-dir',
      join(directory, 'data'),
      '--config',
      file,
      ...database,
    ],
    errorsTo: join(directory, 'service.log'),
    // The environment that bin/patchbay sets.
    environment: {
      SOAK_PROBE: probeFile,
      BUN_JSC_forceRAMSize: '402653184',
      BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '1000000',
    },
  })
  const url = addressIn(await child.waitForLine(/^patchbay ready /, READY_MS))
  const management = (await child.waitForLine(/^management key /, READY_MS)).split(' ')[2] ?? ''
  const made = await fetch(`${url}/api/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${management}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'soak', limit: 1_000_000 }),
  })
  return { child, service: { url, key: ((await made.json()) as { key: string }).key } }
}

const addressIn = (line: string): string => /http:\/\/\S+/.exec(line)?.[0] ?? ''

interface Sample {
  readonly atMs: number
  readonly residentBytes: number
}

const residentBytes = (pid: number): number => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024

const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`).startsWith('socket:')
    } catch {
      return false // It was closed meanwhile.
    }
  }).length

/** The service's own counts of running work. */
const GAUGES = [
  'patchbay_held_requests',
  'patchbay_running_generations',
  'patchbay_requests_inside',
  'patchbay_requests_waiting',
  'patchbay_request_body_bytes',
]

const gaugesOf = async ({ url }: Service): Promise<Readonly<Record<string, number>>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Object.fromEntries(GAUGES.map((name) => [name, Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)]))
}

const probe = async (pid: number): Promise<Probe> => {
  rmSync(probeFile, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(probeFile)) await Bun.sleep(20)
  return JSON.parse(readFileSync(probeFile, 'utf8')) as Probe
}

const QUIET_MS = 5000

/** Measured after all clients are gone. Garbage is collected twice, since finalisers release what the next collection finds. */
const atRest = async (pid: number): Promise<{ readonly probe: Probe; readonly sockets: number }> => {
  await Bun.sleep(QUIET_MS)
  await probe(pid)
  await Bun.sleep(500)
  return { probe: await probe(pid), sockets: socketsOf(pid) }
}

const endings = new Map<string, number>()
const random = seeded(Number(values.seed))

/** Sends requests at the pace for `forMs`, and resolves when all are over. */
const load = async (service: Service, pid: number, forMs: number, samples: Sample[]): Promise<void> => {
  const beganMs = performance.now()
  const open = new Set<Promise<void>>()
  let sampledMs = -1
  for (let sent = 0; performance.now() - beganMs < forMs; sent += 1) {
    const asked =
      loops === null ? request(service, random) : slowLoop(service, random).then((ending) => ['runs slow tools', ending] as const)
    const run = asked.then(([kind, ending]) => {
      const name = `${kind}: ${ending}`
      endings.set(name, (endings.get(name) ?? 0) + 1)
    })
    open.add(run)
    void run.finally(() => open.delete(run))
    const atMs = performance.now() - beganMs
    if (atMs - sampledMs >= totalMs / SAMPLES) {
      sampledMs = atMs
      samples.push({ atMs, residentBytes: residentBytes(pid) })
      await checkHealth(service)
    }
    while (open.size >= openMax) await Promise.race(open)
    await Bun.sleep(Math.max(0, beganMs + (sent + 1) * pauseMs - performance.now()))
  }
  await Promise.all(open)
}

/** Returns the share of the time that it took. */
const warmUp = async (service: Service, pid: number): Promise<number> => {
  let lastBytes = 0
  for (let part = 1; ; part += 1) {
    const samples: Sample[] = []
    await load(service, pid, totalMs * WARM_UP_PARTS.share, samples)
    const bytes = median(samples.map(({ residentBytes: resident }) => resident))
    const hasSettled = bytes <= lastBytes * SETTLED
    if ((part >= WARM_UP_PARTS.atLeast && hasSettled) || part === WARM_UP_PARTS.atMost) return part * WARM_UP_PARTS.share
    lastBytes = bytes
  }
}

const HEALTH_MS = 5000
let unhealthy = 0

const checkHealth = async ({ url }: Service): Promise<void> => {
  try {
    const { ok } = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(HEALTH_MS) })
    if (!ok) unhealthy += 1
  } catch {
    unhealthy += 1 // reported at the end
  }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0
const MIB = 1024 * 1024

/** Kinds of objects that a leak would leave behind. */
const WATCHED = [
  'Timeout',
  'AbortSignal',
  'AbortController',
  'Response',
  'Request',
  'ReadableStream',
  'TCPSocket',
  'Promise',
  'EventEmitter',
  'Socket',
  'FetchTasklet',
  'Generator',
  'AsyncGenerator',
]
/** A few come and go by themselves. */
const SLACK = 40

/** The outcomes of clients that wait and whose provider works. */
const MUST_ANSWER = /^(?:streams|asks for a whole answer|runs a loop of tools|runs slow tools|is saved by a spare): (?:failed|refused)$/

const main = async (): Promise<number> => {
  console.log(
    `seed ${values.seed}, ${values.minutes} minutes, ${values['requests-per-second']} requests a second, commit ${Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: ROOT }).stdout.toString().trim()}`,
  )
  const { child, service } = await start()
  const warmShare = await warmUp(service, child.pid)
  const samples: Sample[] = []
  const before = await atRest(child.pid)
  console.log(
    `warm after ${Math.round((totalMs * warmShare) / 1000)} s: ${Math.round(before.probe.residentBytes / MIB)} MiB at rest, heap ${(before.probe.heapBytes / MIB).toFixed(1)} MiB`,
  )
  await load(service, child.pid, totalMs * (1 - warmShare), samples)
  const after = await atRest(child.pid)
  const gauges = await gaugesOf(service)

  const faults: string[] = []
  const check = (isFine: boolean, what: string): void => {
    console.log(`${isFine ? 'fine ' : 'WRONG'}  ${what}`)
    if (!isFine) faults.push(what)
  }
  const third = Math.max(1, Math.floor(samples.length / 3))
  const [early, late] = [samples.slice(0, third), samples.slice(-third)].map((part) =>
    median(part.map(({ residentBytes: bytes }) => bytes)),
  )
  check(
    (late ?? 0) <= (early ?? 0) * FLAT,
    `resident memory under load: ${((early ?? 0) / MIB).toFixed(0)} MiB in the first third, ${((late ?? 0) / MIB).toFixed(0)} MiB in the last`,
  )
  check(
    after.probe.heapBytes <= before.probe.heapBytes * FLAT,
    `heap at rest: ${(before.probe.heapBytes / MIB).toFixed(1)} MiB after the warm-up, ${(after.probe.heapBytes / MIB).toFixed(1)} MiB at the end`,
  )
  for (const [name, value] of Object.entries(gauges)) check(value === 0, `${name} at rest: ${value}`)
  check(after.sockets <= before.sockets + 2, `sockets at rest: ${before.sockets}, then ${after.sockets}`)
  for (const kind of WATCHED) {
    const [then = 0, now = 0] = [before.probe.objects[kind], after.probe.objects[kind]]
    if (then + now > 0) check(now <= then * FLAT + SLACK, `objects at rest, ${kind}: ${then}, then ${now}`)
  }
  check(
    JSON.stringify(after.probe.listeners) === JSON.stringify(before.probe.listeners),
    `listeners of the process: ${JSON.stringify(after.probe.listeners)}`,
  )
  const total = [...endings.values()].reduce((sum, count) => sum + count, 0)
  const bad = [...endings].filter(([name]) => MUST_ANSWER.test(name)).reduce((sum, [, count]) => sum + count, 0)
  check(unhealthy === 0, `samples in which /health/live did not answer within ${HEALTH_MS} ms: ${unhealthy}`)
  check(bad === 0, `requests that were to be answered and were not: ${bad} of ${total}`)
  for (const name of [...endings.keys()].toSorted()) console.log(`       ${name}: ${endings.get(name)}`)

  const code = await child.stop()
  check(code === 0, `the service ended with ${code}`)
  const audit = Bun.spawnSync([
    join(ROOT, 'bin/patchbay'),
    'ledger',
    'audit',
    '--data-dir',
    join(directory, 'data'),
    ...(values['database-url'] === undefined ? [] : ['--database-url', values['database-url']]),
  ])
  check(audit.exitCode === 0, `ledger audit: exit code ${audit.exitCode}`)
  return faults.length === 0 ? 0 : 1
}

const end = async (code: number): Promise<never> => {
  await stopAllChildren()
  if (code === 0) rmSync(directory, { recursive: true, force: true })
  else console.log(`what the service wrote is in ${directory}`)
  process.exit(code)
}
process.once('SIGINT', () => void end(130))
process.once('SIGTERM', () => void end(143))
await end(await main())
