/** One measurement: warm up, send load for some seconds, and read the CPU time and memory that the target's process used meanwhile. */
import { join } from 'node:path'

import { startChild } from './child.ts'
import type { LoadPlan, LoadResult } from './load.ts'
import type { Scenario } from './scenarios.ts'
import type { Target } from './targets.ts'

export interface Window {
  /** In units of the scenario. */
  readonly done: number
  readonly perSecond: number
  /** Null if the process cannot be inspected. */
  readonly cpuMicrosEach: number | null
  /** The peak resident memory, warm-up included. */
  readonly peakBytes: number | null
  readonly latencyMs: LoadResult['latencyMs']
}

export type Effort = Pick<LoadPlan, 'connections' | 'warmupSeconds' | 'seconds'>

const BUN = join(import.meta.dirname, '../bin/bun')
/** The time that the load generator may take besides its two phases: its start, and twice its own wait for the last answers. */
const MARGIN_MS = 45_000

/** Throws if a single answer was wrong: a figure with failures is not valid. */
export const measure = async (target: Target, scenario: Scenario, effort: Effort): Promise<Window> => {
  const plan: LoadPlan = { perSecond: null, requests: null, ...scenario.pace, ...scenario.load(target), ...effort }
  const child = startChild({ command: [BUN, join(import.meta.dirname, 'load.ts')] })
  try {
    target.meter?.forgetPeak()
    child.writeLine(JSON.stringify(plan))
    const marginMs = (effort.warmupSeconds + effort.seconds) * 1000 + MARGIN_MS
    const first = await child.waitForLine(/^(?:warm$|\{)/, marginMs)
    if (first !== 'warm') throw failure(target, scenario, resultIn(first))
    const before = await target.meter?.settledCpuMicros()
    child.writeLine('go')
    const result = resultIn(await child.waitForLine(/^\{/, marginMs))
    const after = await target.meter?.settledCpuMicros()
    if (result.failures > 0) throw failure(target, scenario, result)
    const done = result.done * scenario.unitsEach
    return {
      done,
      perSecond: done / result.seconds,
      cpuMicrosEach: before === undefined || after === undefined ? null : (after - before) / done,
      peakBytes: target.meter?.memory().peakBytes ?? null,
      latencyMs: result.latencyMs,
    }
  } finally {
    await child.stop()
  }
}

const resultIn = (line: string): LoadResult => JSON.parse(line) as LoadResult

const failure = (target: Target, scenario: Scenario, { failures, done, samples }: LoadResult): Error =>
  new Error([`${scenario.name} on ${target.name}: ${failures} failed, ${done} answered.`, ...samples].join('\n  '))
