/** Limits how many wrong secrets an address may send per minute, in this process. */
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

export interface Attempts {
  /** Throws `rate_limit_exceeded` if the address has sent too many wrong secrets. */
  require(address: string): void
  failed(address: string): void
}

const MOST = 10
const MINUTE_MS = 60_000
/** The number of addresses that are remembered; above it, the oldest ones are dropped. */
const ADDRESSES_MAX = 10_000

export const createAttempts = (clock: Clock): Attempts => {
  const failures = new Map<string, number[]>()
  const recent = (address: string): number[] => {
    const since = clock.monotonicMs() - MINUTE_MS
    return (failures.get(address) ?? []).filter((atMs) => atMs > since)
  }
  return {
    require(address) {
      const [first, ...rest] = recent(address)
      if (first === undefined || rest.length + 1 < MOST) return
      throw new GatewayError(
        'rate_limit_exceeded',
        `${MOST} attempts from this address have failed within a minute. Wait, then try again.`,
        {
          retryAfterSeconds: Math.max(1, Math.ceil((first + MINUTE_MS - clock.monotonicMs()) / 1000)),
        },
      )
    },
    failed(address) {
      const known = recent(address)
      failures.delete(address)
      failures.set(address, [...known, clock.monotonicMs()].slice(-MOST))
      if (failures.size > ADDRESSES_MAX) failures.delete(failures.keys().next().value as string)
    },
  }
}

/** Throws `rate_limit_exceeded` if the address has failed too often, and counts the attempt if it ends in `authentication`. */
export const countingFailures = async <Opened>(attempts: Attempts, address: string, open: () => Promise<Opened>): Promise<Opened> => {
  attempts.require(address)
  try {
    return await open()
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.type === 'authentication') attempts.failed(address)
    throw thrown
  }
}
