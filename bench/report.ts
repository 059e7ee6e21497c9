/** The results, as a table for people and as JSON for programs. */
import { spawnSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'

import type { Window } from './measure.ts'
import type { Memory } from './process-meter.ts'

export interface Measured {
  readonly scenario: string
  readonly unit: string
  readonly target: string
  /** One for each round. */
  readonly windows: readonly Window[]
  readonly cold: Window | null
}

export interface Start {
  readonly target: string
  readonly firstMs: number
  readonly medianMs: number
  readonly runsMs: readonly number[]
}

export interface MemoryRow {
  readonly target: string
  readonly idleBytes: number
  readonly afterBytes: number
  readonly peakBytes: number
}

export interface Results {
  readonly date: string
  readonly commit: string | null
  /** The commit of the other checkout that was measured for comparison. */
  readonly commitBefore: string | null
  readonly machine: string
  /** The one-minute load average before the run, which shows other work on the machine. */
  readonly loadBefore: number
  readonly settings: Readonly<Record<string, number | string | null>>
  readonly measured: readonly Measured[]
  readonly starts: readonly Start[]
  readonly memory: readonly MemoryRow[]
  /** Sentences that say which figures are missing, and why. */
  readonly failures: string[]
}

export const describeMachine = (before: string | null): Pick<Results, 'date' | 'commit' | 'commitBefore' | 'machine' | 'loadBefore'> => ({
  date: new Date().toISOString(),
  commit: commitId(import.meta.dirname),
  commitBefore: before === null ? null : commitId(before),
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

/** The text in the format of results.md. */
export const renderResults = (results: Results): string => {
  const before = results.commitBefore === null ? '' : `, before: ${results.commitBefore}`
  const rows = results.measured.filter(({ windows }) => windows.length > 0)
  return [
    `${results.date}, commit ${results.commit ?? 'unknown'}${before}\n${results.machine}; load before the run ${results.loadBefore.toFixed(1)}`,
    ...(rows.length === 0 ? [] : [renderTable([HEADINGS, ...rows.map((row) => renderRow(row, rows))])]),
    ...results.starts.map(
      ({ target, medianMs, runsMs, firstMs }) =>
        `Start of ${target}: ${medianMs.toFixed(0)} ms (median of ${runsMs.length}; first start ${firstMs.toFixed(0)} ms).`,
    ),
    ...results.memory.map(
      ({ target, idleBytes, afterBytes, peakBytes }) =>
        `Memory of ${target}: ${mebibytes(idleBytes)} MiB after start, ${mebibytes(afterBytes)} after load, ${mebibytes(peakBytes)} at most.`,
    ),
    ...results.failures,
  ].join('\n\n')
}

export const renderWindow = ({ perSecond, cpuMicrosEach, latencyMs }: Window, unit: string): string =>
  `${perSecond.toFixed(0)} ${unit}s/s, ${cpuMicrosEach === null ? 'no' : cpuMicrosEach.toFixed(0)} µs CPU, p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms`

const HEADINGS = [
  'scenario',
  'target',
  'per second (range)',
  'CPU µs each (range)',
  'cold',
  'p50 ms',
  'p99 ms',
  'added ms',
  'peak MiB',
  'CPU ×',
  'cold ×',
]

const renderRow = (row: Measured, all: readonly Measured[]): string[] => {
  const rivals = all.filter(({ scenario }) => scenario === row.scenario)
  const reference = rivals.findLast((rival) => cpuOf(rival).length > 0)
  const direct = rivals.find(({ target }) => target === 'upstream')
  const over = (value: Figure, other: Figure): string =>
    reference === row || value === null || other === null || other === undefined || value === undefined ? '' : (value / other).toFixed(2)
  const [cpu, referenceCpu] = [cpuOf(row), reference === undefined ? [] : cpuOf(reference)]
  const cold = row.cold?.cpuMicrosEach
  const peaks = row.windows.map(({ peakBytes }) => peakBytes ?? 0)
  return [
    row.scenario,
    row.target,
    withRange(row.windows.map(({ perSecond }) => perSecond)),
    cpu.length === 0 ? '' : withRange(cpu),
    cold?.toFixed(0) ?? '',
    p50Of(row).toFixed(1),
    median(row.windows.map(({ latencyMs }) => latencyMs.p99)).toFixed(1),
    direct === undefined || direct === row ? '' : (p50Of(row) - p50Of(direct)).toFixed(1),
    cpu.length === 0 ? '' : mebibytes(Math.max(...peaks)),
    cpu.length === 0 || referenceCpu.length === 0 ? '' : over(median(cpu), median(referenceCpu)),
    over(cold, reference?.cold?.cpuMicrosEach),
  ]
}

const p50Of = ({ windows }: Measured): number => median(windows.map(({ latencyMs }) => latencyMs.p50))

type Figure = number | null | undefined

const cpuOf = ({ windows }: Measured): number[] => windows.map(({ cpuMicrosEach }) => cpuMicrosEach).filter((value) => value !== null)

const withRange = (values: readonly number[]): string => {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) => value.toFixed(0))
  return values.length === 1 ? `${middle}` : `${middle} (${least}-${most})`
}

/** Aligns texts to the left and figures to the right. */
const renderTable = ([head = [], ...rows]: readonly (readonly string[])[]): string => {
  const widths = head.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const ruler = widths.map((width, column) => (column < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(ruler), ...rows.map(line)].join('\n')
}

const mebibytes = (bytes: Memory['residentBytes']): string => (bytes / 1024 ** 2).toFixed(0)

/** Includes a mark if files differ from the commit. Null without git. */
const commitId = (directory: string): string | null => {
  const { status, stdout } = spawnSync('git', ['-C', directory, 'describe', '--always', '--dirty', '--exclude=*'], {
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : null
}
