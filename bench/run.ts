/** `npm run bench`: starts what is to be measured, measures it in rounds, reports. See bench/README.md. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { stopAllChildren } from './child.ts'
import { measure, type Window } from './measure.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { openProcessMeter } from './process-meter.ts'
import { describeMachine, median, renderResults, renderWindow, type Measured, type Results } from './report.ts'
import { type Scenario, SCENARIOS } from './scenarios.ts'
import { startBareProxy, startService, startUpstream, type ServiceOptions, type Target, targetOf } from './targets.ts'

const STARTS = 5
const WARMUP_SECONDS = 1
/** The first warm-up of a target is longer: its code is still being compiled. */
const FIRST_WARMUP_SECONDS = 3
const QUIET_MS = 1500
const DEADLINE_MS = 4 * 60_000

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
  setTimeout(() => {
    progress('The run takes too long and is ended.')
    void leave(1)
  }, deadlineMs(options))
  try {
    const results = await run(options, directory)
    console.log(`\n${renderResults(results)}`)
    if (options.jsonFile !== null) writeFileSync(options.jsonFile, `${JSON.stringify(results, null, 2)}\n`)
    await leave(0)
  } catch (thrown) {
    progress(`FAILED: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    await leave(1)
  }
}

/** A bad flag is one sentence and exit code 2. */
const optionsOrExit = (): Options | null => {
  try {
    return readOptions(process.argv.slice(2), [...SCENARIOS.map(({ name }) => name), 'start', 'memory'])
  } catch (thrown) {
    progress(thrown instanceof Error ? thrown.message : String(thrown))
    return process.exit(2)
  }
}

const run = async (options: Options, directory: string): Promise<Results> => {
  const machine = describeMachine()
  const upstream = options.outside === null ? await startUpstream(options.eventsPerWrite) : ''
  const service: ServiceOptions = { ...options, directory, upstream }
  const start = options.outside === null && wanted(options, 'start') ? await measureStarts(service) : null
  const targets = await openTargets(options, service)
  const idle = await memoryOf(targets)
  const measured = await measureRounds(targets, options)
  const after = await memoryOf(targets)
  return {
    ...machine,
    settings: {
      connections: options.connections,
      seconds: options.seconds,
      rounds: options.rounds,
      eventsPerWrite: options.eventsPerWrite,
      workers: options.workers,
    },
    measured,
    start,
    memory: wanted(options, 'memory')
      ? targets.flatMap(({ name }, index) => {
          const [first, last] = [idle[index], after[index]]
          if (first === undefined || first === null || last === undefined || last === null) return []
          return [{ target: name, idleBytes: first.residentBytes, afterBytes: last.residentBytes, peakBytes: last.peakBytes }]
        })
      : [],
  }
}

const wanted = ({ only }: Options, name: string): boolean => only.length === 0 || only.some((beginning) => name.startsWith(beginning))

/** A first start in an empty data directory, then five more in the same one. */
const measureStarts = async (service: ServiceOptions): Promise<Results['start']> => {
  const startOnce = async (): Promise<number> => {
    const { child, startMs } = await startService({ ...service, directory: join(service.directory, 'starts'), profileTo: null })
    await child.stop()
    return startMs
  }
  const firstMs = await startOnce()
  const runsMs: number[] = []
  while (runsMs.length < STARTS) runsMs.push(await startOnce())
  progress(`start: ${runsMs.map((ms) => ms.toFixed(0)).join(', ')} ms, first ${firstMs.toFixed(0)} ms`)
  return { firstMs, medianMs: median(runsMs), runsMs }
}

const openTargets = async ({ outside, ...options }: Options, service: ServiceOptions): Promise<Target[]> => {
  if (outside === null) {
    const patchbay = await targetOf(await startService({ ...service, directory: join(service.directory, 'service') }))
    // A profile is of the service alone.
    return options.profileTo === null ? [patchbay, await startBareProxy(service.upstream)] : [patchbay]
  }
  const meter = outside.pid === null ? null : openProcessMeter(outside.pid)
  if (outside.pid !== null && meter === null) progress(`Process ${outside.pid} cannot be looked at: no CPU, no memory.`)
  return [
    {
      ...outside,
      limitedKey: null,
      guardedKey: null,
      messagesModel: null,
      name: new URL(outside.base).host,
      answersAreKnown: false,
      meter,
    },
  ]
}

const memoryOf = async (targets: readonly Target[]) => {
  await Bun.sleep(QUIET_MS)
  return targets.map(({ meter }) => meter?.memory() ?? null)
}

/** Every scenario on every target, then all of it again: what disturbs the machine for a while disturbs them all alike. */
const measureRounds = async (targets: readonly Target[], options: Options): Promise<Measured[]> => {
  const rows = SCENARIOS.filter(({ name }) => wanted(options, name)).flatMap((scenario) =>
    targets.filter((target) => canDo(target, scenario)).map((target) => ({ scenario, target, windows: [] as Window[] })),
  )
  const warmed = new Set<Target>()
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const { scenario, target, windows } of rows) {
      const warmupSeconds = warmed.has(target) ? WARMUP_SECONDS : FIRST_WARMUP_SECONDS
      warmed.add(target)
      const window = await measure(target, scenario, {
        connections: options.connections,
        warmupSeconds,
        seconds: options.seconds,
        requests: null,
      })
      windows.push(window)
      progress(`round ${round}/${options.rounds}  ${scenario.name} on ${target.name}: ${renderWindow(window, scenario.unit)}`)
    }
  }
  return rows.map(({ scenario, target, windows }) => ({ scenario: scenario.name, unit: scenario.unit, target: target.name, windows }))
}

const canDo = (target: Target, scenario: Scenario): boolean =>
  target[scenario.needs] !== null && (target.name !== 'bare proxy' || scenario.onBareProxy)

/** Four minutes, or what longer or more measurements need. */
const deadlineMs = ({ seconds, rounds }: Options): number =>
  Math.max(DEADLINE_MS, 60_000 + rounds * (SCENARIOS.length + 2) * (seconds + 4) * 1000)

const progress = (line: string): void => void process.stderr.write(`${line}\n`)

await main()
