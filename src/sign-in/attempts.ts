/** Limits how many wrong secrets an address may send per minute, in this process. */
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

export interface Attempts {
  /**
   * Throws `rate_limit_exceeded` if the address has sent too many wrong secrets. An attempt that runs counts as one of them, since parallel
   * ones could not be refused otherwise; one that has ended counts if `isFailure` is true of what it threw.
   */
  run<Opened>(address: string, open: () => Promise<Opened>, isFailure: (refusal: GatewayError) => boolean): Promise<Opened>
}

const MOST = 10
const MINUTE_MS = 60_000
/** The number of addresses that are remembered; above it, the oldest ones are dropped. */
const ADDRESSES_MAX = 10_000

export const createAttempts = (clock: Clock): Attempts => {
  const failures = new Map<string, number[]>()
  const running = new Map<string, number>()
  const recent = (address: string): number[] => {
    const since = clock.monotonicMs() - MINUTE_MS
    return (failures.get(address) ?? []).filter((atMs) => atMs > since)
  }
  const require = (address: string): void => {
    const known = recent(address)
    if (known.length + (running.get(address) ?? 0) < MOST) return
    const [first] = known
    // The attempts that still run may succeed.
    const waitMs = first === undefined || known.length < MOST ? 0 : first + MINUTE_MS - clock.monotonicMs()
    throw new GatewayError(
      'rate_limit_exceeded',
      `${MOST} attempts from this address have failed within a minute, or are not answered yet. Wait, then try again.`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
    )
  }
  const fail = (address: string): void => {
    const known = recent(address)
    failures.delete(address)
    failures.set(address, [...known, clock.monotonicMs()])
    if (failures.size > ADDRESSES_MAX) failures.delete(failures.keys().next().value as string)
  }
  const end = (address: string): void => {
    const others = (running.get(address) ?? 0) - 1
    if (others > 0) running.set(address, others)
    else running.delete(address)
  }
  return {
    async run(address, open, isFailure) {
      require(address)
      running.set(address, (running.get(address) ?? 0) + 1)
      try {
        return await open()
      } catch (thrown) {
        if (thrown instanceof GatewayError && isFailure(thrown)) fail(address)
        throw thrown
      } finally {
        end(address)
      }
    },
  }
}
