/** `npm run bench`: starts the targets, measures them in rounds, and reports. See bench/README.md. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { stopAllChildren } from './child.ts'
import { type Effort, measure, type Window } from './measure.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { describeMachine, median, renderResults, renderWindow, type Measured, type MemoryRow, type Results, type Start } from './report.ts'
import { type Scenario, SCENARIOS } from './scenarios.ts'
import {
  isPatchbay,
  outsideTarget,
  ROOT,
  type ServiceOptions,
  startService,
  startTarget,
  startUpstream,
  type Target,
  whyNot,
} from './targets.ts'

const STARTS = 5
const WARMUP_SECONDS = 1
/** The first warm-up of a target is longer, since its code is still being compiled. */
const FIRST_WARMUP_SECONDS = 3
const COLD_SECONDS = 3
const QUIET_MS = 1500
/** The time of a measurement besides its own seconds: starting processes, warming up, waiting. */
const ASIDE_SECONDS = 5

const main = async (): Promise<void> => {
  const options = optionsOrExit()
  if (options === null) return console.log(USAGE)
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const leave = async (code: number): Promise<never> => {
    await stopAllChildren()
    rmSync(directory, { recursive: true, force: true })
    process.exit(code)
  }
  process.once('SIGINT', () => void leave(130))
  process.once('SIGTERM', () => void leave(143))
  try {
    const results = await run(options, directory)
    console.log(`\n${renderResults(results)}`)
    if (options.jsonFile !== null) writeFileSync(options.jsonFile, `${JSON.stringify(results, null, 2)}\n`)
    await leave(results.failures.length === 0 ? 0 : 1)
  } catch (thrown) {
    progress(`FAILED: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    await leave(1)
  }
}

/** A bad flag prints one sentence and exits with code 2. */
const optionsOrExit = (): Options | null => {
  try {
    return readOptions(process.argv.slice(2), [...SCENARIOS.map(({ name }) => name), 'start', 'memory'])
  } catch (thrown) {
    progress(thrown instanceof Error ? thrown.message : String(thrown))
    return process.exit(2)
  }
}

/** The name of a target in the report, and how to start it. */
interface Contender {
  readonly name: string
  start(): Promise<Target>
}

/** One row of the report while it is being measured. */
interface Row extends Measured {
  readonly plan: Scenario
  readonly contender: Contender
  readonly windows: Window[]
  cold: Window | null
}

const run = async (options: Options, directory: string): Promise<Results> => {
  const upstream = options.outside === null ? await startUpstream(options.eventsPerWrite) : ''
  const service: ServiceOptions = { ...options, directory, upstream, root: ROOT }
  const roots = { patchbay: ROOT, ...(options.before === null ? {} : { before: resolve(options.before) }) }
  const rows = rowsOf(options, service, roots)
  const results: Results = {
    ...describeMachine(options.before),
    settings: {
      connections: options.connections,
      seconds: options.seconds,
      rounds: options.rounds,
      eventsPerWrite: options.eventsPerWrite,
    },
    measured: rows,
    starts: options.outside === null && wanted(options, 'start') ? await measureStarts(service, roots) : [],
    memory: [],
    failures: [],
  }
  setTimeout(
    () => {
      progress('The run takes too long and is ended.')
      process.kill(process.pid, 'SIGTERM')
    },
    deadlineMs(options, rows.length),
  )
  const take = measuring(results.failures)
  if (options.cold) await measureCold(rows, options, take)
  const [first] = SCENARIOS
  const resident = first !== undefined && wanted(options, 'memory') ? contendersFor(first, options, service, roots) : []
  const memory = await measureRounds(rows, resident, options, take)
  await measureAlone(rows, options, take)
  return { ...results, memory: resident.length > 0 ? memory : [] }
}

/** Measures a row; null if an answer was wrong: that row then has no figure, and the others go on. */
type Take = (when: string, row: Row, target: Target, effort: Effort) => Promise<Window | null>

const measuring =
  (failures: string[]): Take =>
  async (when, row, target, effort) => {
    try {
      const window = await measure(target, row.plan, effort)
      progress(`${when}  ${row.scenario} on ${row.target}: ${renderWindow(window, row.unit)}`)
      return window
    } catch (thrown) {
      const failure = `${row.scenario} on ${row.target} FAILED: ${thrown instanceof Error ? thrown.message : String(thrown)}`
      progress(`${when}  ${failure}`)
      failures.push(failure)
      return null
    }
  }

const wanted = ({ only }: Options, name: string): boolean => only.length === 0 || only.some((beginning) => name.startsWith(beginning))

/** One row for each scenario and target. */
const rowsOf = (options: Options, service: ServiceOptions, roots: Readonly<Record<string, string>>): Row[] =>
  SCENARIOS.filter(({ name }) => wanted(options, name)).flatMap((plan) => {
    const missing = plan.on.map((kind) => whyNot(kind, options)).find((reason) => reason !== null)
    if (missing !== undefined) {
      progress(`${plan.name} is left out: ${missing}.`)
      return []
    }
    return contendersFor(plan, options, service, roots).map((contender) => ({
      plan,
      contender,
      scenario: plan.name,
      unit: plan.unit,
      target: contender.name,
      windows: [],
      cold: null,
    }))
  })

const contendersFor = (
  { on }: Scenario,
  { outside, profileTo }: Options,
  service: ServiceOptions,
  roots: Readonly<Record<string, string>>,
): Contender[] => {
  if (outside !== null) return [{ name: new URL(outside.base).host, start: async () => outsideTarget(outside) }]
  return on.flatMap((kind) => {
    // Only the service is profiled.
    if (!isPatchbay(kind)) return profileTo === null ? [{ name: kind, start: () => startTarget(kind, service) }] : []
    return Object.entries(roots).map(([name, root]) => ({
      name: kind.replace('patchbay', name),
      start: () => startTarget(kind, { ...service, root }),
    }))
  })
}

/** Measures a first start in an empty data directory, then five more in the same one. */
const measureStarts = async (service: ServiceOptions, roots: Readonly<Record<string, string>>): Promise<Start[]> => {
  const starts: Start[] = []
  for (const [target, root] of Object.entries(roots)) {
    const startOnce = async (): Promise<number> => {
      const directory = join(service.directory, `starts-${target}`)
      const { child, startMs } = await startService({ ...service, root, directory, databaseUrl: null, profileTo: null })
      await child.stop()
      return startMs
    }
    const firstMs = await startOnce()
    const runsMs: number[] = []
    while (runsMs.length < STARTS) runsMs.push(await startOnce())
    progress(`start of ${target}: ${runsMs.map((ms) => ms.toFixed(0)).join(', ')} ms, first ${firstMs.toFixed(0)} ms`)
    starts.push({ target, firstMs, medianMs: median(runsMs), runsMs })
  }
  return starts
}

/** Measures the first three seconds of a process that has not answered any request yet. */
const measureCold = async (rows: readonly Row[], { connections }: Options, take: Take): Promise<void> => {
  for (const row of rows.filter(({ plan }) => plan.pace === null && !plan.alone)) {
    const target = await row.contender.start()
    if (target[row.plan.needs] !== null) {
      row.cold = await take('cold', row, target, { connections, warmupSeconds: 0, seconds: COLD_SECONDS })
    }
    await target.stop()
  }
}

/** Measures every scenario on every target, then repeats all: a temporary disturbance of the machine affects all alike. */
const measureRounds = async (rows: readonly Row[], resident: readonly Contender[], options: Options, take: Take): Promise<MemoryRow[]> => {
  const together = rows.filter(({ plan }) => !plan.alone)
  const targets = new Map<string, Target>()
  for (const contender of [...together.map((row) => row.contender), ...resident]) {
    if (!targets.has(contender.name)) targets.set(contender.name, await contender.start())
  }
  await Bun.sleep(QUIET_MS)
  const idle = new Map([...targets].map(([name, { meter }]) => [name, meter?.memory() ?? null]))
  const warmed = new Set<Target>()
  for (let round = 1; round <= options.rounds; round += 1) {
    // The first of two equal targets is dearer, so each comes first in every second round.
    for (const row of round % 2 === 0 ? together.toReversed() : together) {
      const target = targets.get(row.target)
      if (target === undefined || target[row.plan.needs] === null) continue
      const warmupSeconds = warmed.has(target) ? WARMUP_SECONDS : FIRST_WARMUP_SECONDS
      warmed.add(target)
      const window = await take(`round ${round}/${options.rounds}`, row, target, {
        connections: options.connections,
        warmupSeconds,
        seconds: options.seconds,
      })
      if (window !== null) row.windows.push(window)
    }
  }
  await Bun.sleep(QUIET_MS)
  return [...targets].flatMap(([name, { meter }]) => {
    const [first, last] = [idle.get(name), meter?.memory()]
    if (first === undefined || first === null || last === undefined) return []
    const peaks = together.filter(({ target }) => target === name).flatMap(({ windows }) => windows.map(({ peakBytes }) => peakBytes ?? 0))
    return [{ target: name, idleBytes: first.residentBytes, afterBytes: last.residentBytes, peakBytes: Math.max(last.peakBytes, ...peaks) }]
  })
}

const measureAlone = async (rows: readonly Row[], { connections, seconds, rounds }: Options, take: Take): Promise<void> => {
  for (const row of rows.filter(({ plan }) => plan.alone)) {
    const target = await row.contender.start()
    for (let round = 1; round <= (row.plan.pace === null ? rounds : 1); round += 1) {
      if (target[row.plan.needs] === null) continue
      const warmupSeconds = round === 1 ? FIRST_WARMUP_SECONDS : WARMUP_SECONDS
      const window = await take(`alone ${round}`, row, target, { connections, warmupSeconds, seconds })
      if (window !== null) row.windows.push(window)
    }
    await target.stop()
  }
}

/** Three times the time of the measurements on a quiet machine. */
const deadlineMs = ({ seconds, rounds }: Options, rows: number): number =>
  60_000 + 3 * rows * (rounds + 1) * (seconds + ASIDE_SECONDS) * 1000

const progress = (line: string): void => void process.stderr.write(`${line}\n`)

await main()
