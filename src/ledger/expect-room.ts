/** When a window that running requests fill will have room again: for `Retry-After`. */
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { HoldStore } from '../storage/hold-store.ts'
import { windowName, type WindowKey } from '../storage/scope-windows.ts'

export interface ExpectedRoom {
  /** Whole seconds, from 1 to 60, until `shortNanos` are expected to be free; a random fifth on top, so that not all come back at once. */
  secondsUntil(window: WindowKey, shortNanos: number): Promise<number>
}

/** Holds that are looked at. */
const EXPECTED_MAX = 1000
const SECONDS_MAX = 60

/** For the refusals of one moment: each window is read once. */
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
      // Storage that went away since then gives no time: the client may ask soon.
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
