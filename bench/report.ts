/** The results: as a table for a person, and as JSON for a machine. */
import { spawnSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'

import type { Window } from './measure.ts'
import type { Memory } from './process-meter.ts'

export interface Measured {
  readonly scenario: string
  readonly unit: string
  readonly target: string
  /** One a round. */
  readonly windows: readonly Window[]
}

export interface Results {
  readonly date: string
  readonly commit: string | null
  readonly machine: string
  /** Of one minute, before the run: what else the machine was doing. */
  readonly loadBefore: number
  readonly settings: Readonly<Record<string, number | string | null>>
  readonly measured: readonly Measured[]
  readonly start: { readonly firstMs: number; readonly medianMs: number; readonly runsMs: readonly number[] } | null
  readonly memory: readonly {
    readonly target: string
    readonly idleBytes: number
    readonly afterBytes: number
    readonly peakBytes: number
  }[]
}

export const describeMachine = (): Pick<Results, 'date' | 'commit' | 'machine' | 'loadBefore'> => ({
  date: new Date().toISOString(),
  commit: commitId(),
  machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform} ${process.arch}, Bun ${Bun.version}`,
  loadBefore: loadavg()[0] ?? 0,
})

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

export const renderResults = (results: Results): string => {
  const parts = [
    `${results.date}  commit ${results.commit ?? 'unknown'}\n${results.machine}; load before the run ${results.loadBefore.toFixed(1)}`,
  ]
  if (results.measured.length > 0) parts.push(renderTable([HEADINGS, ...results.measured.map((row) => renderRow(row, results.measured))]))
  if (results.start !== null) {
    parts.push(
      `start: ${results.start.medianMs.toFixed(0)} ms (median of ${results.start.runsMs.length}), first start ${results.start.firstMs.toFixed(0)} ms`,
    )
  }
  for (const { target, idleBytes, afterBytes, peakBytes } of results.memory) {
    parts.push(
      `memory of ${target}: ${mebibytes(idleBytes)} after start, ${mebibytes(afterBytes)} after load, ${mebibytes(peakBytes)} at most`,
    )
  }
  return parts.join('\n\n')
}

export const renderWindow = ({ perSecond, cpuMicrosPerRequest, latencyMs }: Window, unit: string): string =>
  `${perSecond.toFixed(0)} ${unit}s/s, ${cpuMicrosPerRequest === null ? 'no' : cpuMicrosPerRequest.toFixed(0)} µs CPU, p99 ${latencyMs.p99.toFixed(1)} ms`

const HEADINGS = ['scenario', 'target', 'per second', 'range', 'CPU µs each', 'range', 'p50 ms', 'p99 ms', 'CPU × bare proxy']

const renderRow = (row: Measured, all: readonly Measured[]): string[] => {
  const cpu = cpuOf(row)
  const proxy = all.find(({ scenario, target }) => scenario === row.scenario && target === 'bare proxy')
  const proxyCpu = proxy === undefined || proxy === row ? [] : cpuOf(proxy)
  const rates = row.windows.map(({ perSecond }) => perSecond)
  return [
    row.scenario,
    row.target,
    median(rates).toFixed(0),
    rangeOf(rates),
    cpu.length === 0 ? '-' : median(cpu).toFixed(0),
    cpu.length === 0 ? '-' : rangeOf(cpu),
    median(row.windows.map(({ latencyMs }) => latencyMs.p50)).toFixed(1),
    median(row.windows.map(({ latencyMs }) => latencyMs.p99)).toFixed(1),
    cpu.length === 0 || proxyCpu.length === 0 ? '' : (median(cpu) / median(proxyCpu)).toFixed(2),
  ]
}

const cpuOf = ({ windows }: Measured): number[] =>
  windows.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest).filter((value) => value !== null)

const rangeOf = (values: readonly number[]): string => `${Math.min(...values).toFixed(0)}-${Math.max(...values).toFixed(0)}`

/** Texts to the left, figures to the right. */
const renderTable = (rows: readonly (readonly string[])[]): string => {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '),
    )
    .join('\n')
}

const mebibytes = (bytes: Memory['residentBytes']): string => `${(bytes / 1024 ** 2).toFixed(0)} MiB`

/** With a mark when files differ from it. Null without git. */
const commitId = (): string | null => {
  const { status, stdout } = spawnSync('git', ['-C', import.meta.dirname, 'describe', '--always', '--dirty', '--exclude=*'], {
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : null
}
