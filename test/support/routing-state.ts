/** What routing remembers, with nothing remembered yet. */
import type { Clock } from '../../src/lib/clock.ts'
import { createCredentials } from '../../src/routing/credentials.ts'
import { createHealth } from '../../src/routing/health.ts'
import type { RoutingState } from '../../src/routing/routing-state.ts'
import { createSticky } from '../../src/routing/sticky.ts'

export const createRoutingState = (clock: Clock, onRefused: (provider: string, index: number) => void = () => undefined): RoutingState => ({
  health: createHealth(),
  credentials: createCredentials({ clock, onRefused }),
  sticky: createSticky(),
})
