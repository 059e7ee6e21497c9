/**
 * Measures how much longer requests to models take while five dashboards are open: `bin/bun bench/dashboards.ts`, about eight minutes.
 *
 * Five people each open a screen in Chromium; its requests are recorded, and then it is closed, so that its CPU is not measured. Rounds
 * with and without dashboards alternate: in those with them, the recorded requests are sent to the service at the same intervals and with
 * the sessions of those browsers, and the streams that the screens follow stay open. The load is 300 requests a second to a provider that
 * takes 50 ms.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { chromium } from 'playwright-core'

import { openDatabase } from '../src/storage/open-database.ts'
import { stopAllChildren } from './child.ts'
import { measure, type Window } from './measure.ts'
import { describeMachine, median, renderWindow } from './report.ts'
import { fillRequestLog } from '../test/support/request-log-records.ts'
import { SCENARIOS } from './scenarios.ts'
import { outsideTarget, ROOT, startService, startUpstream, type Target } from './targets.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '30' },
    records: { type: 'string', default: '300000' },
  },
})
const [rounds, seconds, records] = [Number(values.rounds), Number(values.seconds), Number(values.records)]

const SCREENS = ['', '', '/requests?live=on', '/requests?live=on', '/models']
const SETTLED_MS = 5000
/** Within this time every screen repeats all requests that it repeats. */
const RECORDED_MS = 30_000
/** The aim: the 99th percentile grows at most by this factor. */
const P99_RATIO_MAX = 1.05

interface Asked {
  readonly atMs: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** The requests of one open screen. */
interface Dashboard {
  /** Requests whose response stays open. */
  readonly streams: readonly Asked[]
  /** Requests made within RECORDED_MS, which are then repeated. */
  readonly polls: readonly Asked[]
}

const main = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const leave = async (code: number): Promise<never> => {
    await stopAllChildren()
    rmSync(directory, { recursive: true, force: true })
    process.exit(code)
  }
  process.once('SIGINT', () => void leave(130))
  process.once('SIGTERM', () => void leave(143))
  try {
    const target = await startFilled(directory)
    progress('recording five dashboards …')
    const dashboards = await Promise.all(SCREENS.map((screen) => record(target, screen)))
    const asked = dashboards.reduce((sum, { polls }) => sum + polls.length, 0)
    const streams = dashboards.reduce((sum, one) => sum + one.streams.length, 0)
    progress(`they ask ${asked} times in ${RECORDED_MS / 1000} s, and follow ${streams} streams`)
    if (asked === 0 || streams === 0) throw new Error('The dashboards asked for nothing: is dashboard/dist built?')
    await leave((await compare(target, dashboards)) <= P99_RATIO_MAX ? 0 : 1)
  } catch (thrown) {
    progress(thrown instanceof Error ? thrown.message : String(thrown))
    await leave(2)
  }
}

const progress = (line: string): void => void process.stderr.write(`${line}\n`)

/** Starts a service with a long request log; its first start makes the keys. */
const startFilled = async (directory: string): Promise<Target & { readonly managementKey: string }> => {
  const upstream = await startUpstream(4)
  const options = { directory, upstream, databaseUrl: null, profileTo: null, root: ROOT }
  const first = await startService(options)
  const [key, managementKey] = await Promise.all(
    [/pb_inf_\w+/, /pb_mgmt_\w+/].map(async (pattern) => pattern.exec(await first.child.waitForLine(pattern, 2000))?.[0] ?? ''),
  )
  await first.child.stop()
  progress(`making ${records} records …`)
  const database = await openDatabase({
    databaseUrl: null,
    dataDir: join(directory, 'data'),
    exclusive: false,
    thread: true,
    onError: () => undefined,
  })
  await fillRequestLog(database, null, { records, days: 1, fromMs: Date.now() - 86_400_000 })
  await database.close()
  const { child, url } = await startService(options)
  const base = `${url}/api/v1`
  const target = outsideTarget({ base, model: 'bench/chat', key: key ?? '', managementKey: managementKey ?? '', pid: child.pid })
  return { ...target, managementKey: managementKey ?? '', delayed: { base, model: 'bench/delayed' }, answersAreKnown: true }
}

/** Records the requests of a screen that somebody opens and leaves open. */
const record = async ({ base, managementKey }: Target & { readonly managementKey: string }, screen: string): Promise<Dashboard> => {
  const browser = await chromium.launch({ executablePath: process.env['CHROME_PATH'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
  const page = await browser.newPage()
  const asked: Promise<Asked>[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(base)) return
    if (request.method() !== 'GET') return
    const atMs = performance.now()
    asked.push(request.allHeaders().then((headers) => ({ atMs, url: request.url(), headers: withoutConnection(headers) })))
  })
  await page.goto(`${base.replace('/api/v1', '')}/dashboard${screen}`)
  await page.getByLabel('Management key or sign-in link').fill(managementKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Screens' }).waitFor()
  await page.waitForTimeout(SETTLED_MS)
  const startMs = performance.now()
  await page.waitForTimeout(RECORDED_MS)
  const all = await Promise.all(asked)
  await browser.close()
  const isStream = ({ url }: Asked): boolean => url.includes('/generations/stream')
  return {
    streams: all.filter(isStream).slice(-1),
    polls: all
      .filter((one) => !isStream(one) && one.atMs >= startMs && one.atMs < startMs + RECORDED_MS)
      .map((one) => ({ ...one, atMs: one.atMs - startMs })),
  }
}

const CONNECTION = new Set(['host', 'connection', 'content-length', 'accept-encoding'])

const withoutConnection = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION.has(name) && !name.startsWith(':')))

interface Opened {
  /** Closes them; returns the times of their answers in milliseconds. Throws if one was not answered. */
  close(): Promise<readonly number[]>
}

const open = (dashboards: readonly Dashboard[]): Opened => {
  const over = new AbortController()
  const times: number[] = []
  const faults: string[] = []
  const ask = async ({ url, headers }: Asked): Promise<void> => {
    const startMs = performance.now()
    try {
      const response = await fetch(url, { headers, signal: over.signal })
      if (!response.ok) faults.push(`${response.status} of ${url}`)
      for await (const _ of response.body ?? []) continue
      times.push(performance.now() - startMs)
    } catch (thrown) {
      if (!over.signal.aborted) faults.push(`${String(thrown)} of ${url}`)
    }
  }
  const timers = new Set<ReturnType<typeof setTimeout>>()
  const repeat = (one: Asked, afterMs: number): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      repeat(one, RECORDED_MS)
      void ask(one)
    }, afterMs)
    timers.add(timer)
  }
  for (const { streams, polls } of dashboards) {
    for (const stream of streams) void ask(stream)
    for (const poll of polls) repeat(poll, poll.atMs)
  }
  return {
    async close() {
      for (const timer of timers) clearTimeout(timer)
      over.abort()
      if (faults.length > 0) throw new Error(`The dashboards were not answered: ${faults.slice(0, 3).join('; ')}`)
      return times
    },
  }
}

/** Returns the ratio of the 99th percentile with the dashboards to the one without. */
const compare = async (target: Target, dashboards: readonly Dashboard[]): Promise<number> => {
  const scenario = SCENARIOS.find(({ name }) => name === 'added-at-300-per-second')
  if (scenario === undefined) throw new Error('The scenario is gone.')
  const effort = { connections: 16, warmupSeconds: 2, seconds }
  const windows = { without: [] as Window[], with: [] as Window[] }
  const answered: number[] = []
  await measure(target, scenario, { ...effort, seconds: 5 })
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      const opened = kind === 'with' ? open(dashboards) : null
      const window = await measure(target, scenario, effort)
      answered.push(...((await opened?.close()) ?? []))
      windows[kind].push(window)
      progress(`round ${round + 1}, ${kind.padEnd(7)} ${renderWindow(window, 'request')}`)
    }
  }
  const p99 = (kind: keyof typeof windows): number => median(windows[kind].map(({ latencyMs }) => latencyMs.p99))
  const p50 = (kind: keyof typeof windows): number => median(windows[kind].map(({ latencyMs }) => latencyMs.p50))
  const ratios = windows.with.map(({ latencyMs }, round) => latencyMs.p99 / (windows.without[round]?.latencyMs.p99 ?? Number.NaN))
  const ratio = p99('with') / p99('without')
  const { date, commit, machine, loadBefore } = describeMachine(null)
  console.log(`${date}, commit ${commit}, ${machine}, load ${loadBefore.toFixed(1)}, ${records} records\n`)
  console.log(`| dashboards | p50 ms | p99 ms |\n|---|--:|--:|`)
  for (const kind of ['without', 'with'] as const) console.log(`| ${kind} | ${p50(kind).toFixed(2)} | ${p99(kind).toFixed(2)} |`)
  console.log(
    `\np99 with five dashboards is ${ratio.toFixed(3)} of that without (medians of ${rounds} rounds of ${seconds} s; ` +
      `by round: ${ratios.map((one) => one.toFixed(2)).join(', ')}). The dashboards got ${answered.length} answers, ` +
      `the median after ${median(answered).toFixed(0)} ms, the slowest after ${Math.max(...answered).toFixed(0)} ms.`,
  )
  return ratio
}

await main()
