/** The state that routing keeps between requests. It lives as long as the process, through every reload of the configuration file. */
import type { Credentials } from './credentials.ts'
import type { Health } from './health.ts'
import type { Sticky } from './sticky.ts'

export interface RoutingState {
  readonly health: Health
  readonly credentials: Credentials
  readonly sticky: Sticky
  /** A number in [0, 1), for random choices. */
  readonly random: () => number
}
