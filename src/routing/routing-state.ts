/** The memory of routing from one request to the next. It lives as long as the process, through every reload of the file. */
import type { Credentials } from './credentials.ts'
import type { Health } from './health.ts'
import type { Sticky } from './sticky.ts'

export interface RoutingState {
  readonly health: Health
  readonly credentials: Credentials
  readonly sticky: Sticky
  /** In [0, 1): for choices by lot. */
  readonly random: () => number
}
