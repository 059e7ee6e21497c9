/** Estimates when a window that running requests fill will have room again, for `Retry-After`. */
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { HoldStore } from '../storage/ledger/hold-store.ts'
import { windowName, type WindowKey } from '../storage/ledger/scope-windows.ts'

export interface ExpectedRoom {
  /**
   * Whole seconds, from 1 to 60, until `shortNanos` are expected to be free, plus up to a fifth at random so that not all clients come back
   * at once.
   */
  secondsUntil(window: WindowKey, shortNanos: number): Promise<number>
}

/** The maximum number of holds that are read. */
const EXPECTED_MAX = 1000
const SECONDS_MAX = 60

/** Create one for the refusals of one moment: it reads each window once. */
export const expectRoom = (parts: {
  readonly holds: Pick<HoldStore, 'expected'>
  readonly clock: Clock
  readonly ids: IdSource
}): ExpectedRoom => {
  const { holds, clock, ids } = parts
  const read = new Map<string, ReturnType<HoldStore['expected']>>()
  return {
    async secondsUntil(window, shortNanos) {
      const name = windowName(window)
      // If storage has become unavailable meanwhile, no time is known and the client may retry soon.
      const expected = read.get(name) ?? holds.expected(window, EXPECTED_MAX).catch(() => [])
      read.set(name, expected)
      let freed = 0
      let endMs = clock.now()
      for (const { amount_n, ends_at } of await expected) {
        freed += amount_n
        endMs = Date.parse(ends_at)
        if (freed >= shortNanos) break
      }
      const jitter = 1 + (ids.bytes(1)[0] ?? 0) / (5 * 255)
      return Math.min(SECONDS_MAX, Math.max(1, Math.ceil(((endMs - clock.now()) * jitter) / 1000)))
    },
  }
}
