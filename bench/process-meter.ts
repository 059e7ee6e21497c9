/** CPU time and resident memory of a process and its children, read from /proc; null if there is none (not Linux). */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

export interface Memory {
  readonly residentBytes: number
  /** The peak since the last `forgetPeak`. For several processes it is the sum of their peaks. */
  readonly peakBytes: number
}

export interface ProcessMeter {
  /** User and system time since the process began, including all threads and children. Resolution: 10,000 µs. */
  cpuMicros(): number
  /** The CPU time once it no longer grows, so that the work after a request (records, logs) is included. Waits a second at most. */
  settledCpuMicros(): Promise<number>
  memory(): Memory
  /** Restarts the measurement of the peak. */
  forgetPeak(): void
}

// USER_HZ: 100 on every architecture of Linux that Bun runs on, whatever the kernel's own tick.
const MICROS_PER_TICK = 10_000
const POLL_MS = 120
const SETTLE_MS = 1000

export const openProcessMeter = (pid: number): ProcessMeter | null => {
  if (!existsSync(`/proc/${pid}/stat`)) return null
  const sum = (measure: (pid: number) => number): number => treeOf(pid).reduce((total, member) => total + measure(member), 0)
  const cpuMicros = (): number => sum((member) => (readStat(member)?.ticks ?? 0) * MICROS_PER_TICK)
  return {
    cpuMicros,
    async settledCpuMicros() {
      let last = cpuMicros()
      for (let waitedMs = 0; waitedMs < SETTLE_MS; waitedMs += POLL_MS) {
        await Bun.sleep(POLL_MS)
        const now = cpuMicros()
        if (now === last) break
        last = now
      }
      return last
    },
    memory: () => ({
      residentBytes: sum((member) => readStatusBytes(member, 'VmRSS')),
      peakBytes: sum((member) => readStatusBytes(member, 'VmHWM')),
    }),
    forgetPeak() {
      // proc(5): 5 resets the peak of the resident set.
      for (const member of treeOf(pid)) writeFileSync(`/proc/${member}/clear_refs`, '5')
    },
  }
}

interface Stat {
  readonly parent: number
  readonly ticks: number
}

/** A process may end between two reads; then it counts as nothing. */
const readOrNull = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** The command's name may contain spaces and brackets, so fields are counted after the last bracket: proc_pid_stat(5). */
const readStat = (pid: number): Stat | null => {
  const text = readOrNull(`/proc/${pid}/stat`)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }
}

const readStatusBytes = (pid: number, field: 'VmRSS' | 'VmHWM'): number => {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readOrNull(`/proc/${pid}/status`) ?? '')
  return Number(found?.[1] ?? 0) * 1024
}

/** The process and all its descendants. */
const treeOf = (root: number): number[] => {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(Number(name))
    if (stat !== null) parents.set(Number(name), stat.parent)
  }
  const tree = [root]
  for (const member of tree) for (const [pid, parent] of parents) if (parent === member) tree.push(pid)
  return tree
}
