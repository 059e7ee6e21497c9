/**
 * The processor's time that this thread used: other programs on the machine do not matter. The system may count what
 * `process.threadCpuUsage` reads in ticks of four milliseconds, half of what a step may take: its exact clock is read where there is one.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi'

/** In microseconds. */
export const threadCpu = (): number => exact?.() ?? counted()

const counted = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

const CLOCK_THREAD_CPUTIME_ID = 3

const exactClock = (): (() => number) | null => {
  if (process.platform !== 'linux') return null
  try {
    const { symbols } = dlopen('libc.so.6', { clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } })
    const time = new BigInt64Array(2)
    return () => {
      symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, ptr(time))
      return Number(time[0]) * 1e6 + Number(time[1]) / 1e3
    }
  } catch {
    // A C library of another name.
    return null
  }
}

const exact = exactClock()
