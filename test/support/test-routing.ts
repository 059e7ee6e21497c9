/** The state behind routing, for tests: nothing learned yet, nothing remembered, and every lot falls on the first. */
import type { Clock } from '../../src/lib/clock.ts'
import { createHealth, type Health } from '../../src/routing/health.ts'
import { createSticky, type Sticky } from '../../src/routing/sticky.ts'

export interface TestRouting {
  readonly health: Health
  readonly sticky: Sticky
  readonly random: () => number
}

export const createTestRouting = (clock: Clock): TestRouting => ({
  health: createHealth({ clock, inFlightMax: 1000, neverEjected: new Set() }),
  sticky: createSticky({ clock }),
  random: () => 0,
})
