/** The state of routing for tests: nothing is learned or remembered yet, and every random choice takes the first. */
import type { Clock } from '../../src/lib/clock.ts'
import { createCredentials } from '../../src/routing/credentials.ts'
import { createHealth } from '../../src/routing/health.ts'
import type { RoutingState } from '../../src/routing/routing-state.ts'
import { createSticky } from '../../src/routing/sticky.ts'

export const createTestRouting = (clock: Clock, onRefused: (provider: string, index: number) => void = () => undefined): RoutingState => ({
  health: createHealth({ clock, inFlightMax: () => 1000, neverEjected: new Set() }),
  sticky: createSticky({ clock }),
  credentials: createCredentials({ clock, onRefused }),
  random: () => 0,
})
