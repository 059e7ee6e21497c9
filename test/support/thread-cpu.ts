/**
 * The processor time of this thread, so that other programs on the machine do not matter. The system may update what
 * `process.threadCpuUsage` reads in ticks of four milliseconds, half of what a step may take, so an exact clock is read if there is one.
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
    // The C library has another name here.
    return null
  }
}

const exact = exactClock()
