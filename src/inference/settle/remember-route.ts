import { bindsConversation, type Sticky } from '../../routing/sticky.ts'
import type { AttemptLog } from '../run/attempt-log.ts'
import type { Planned } from '../request.ts'

interface Ended {
  readonly request: Pick<Planned, 'plan'>
  readonly log: Pick<AttemptLog, 'current' | 'error' | 'cancelled'>
}

/**
 * After a success the conversation is bound to its endpoint, if that gains anything; once it is bound, every success renews the binding
 * (docs/contract/routing.md#sticky-routing).
 */
export const rememberRoute = ({ request: { plan }, log: { current, error, cancelled } }: Ended, sticky: Sticky): void => {
  if (plan.stickyKey === null || current === undefined || error !== null || cancelled) return
  const { endpoint, key } = current.planned
  if (bindsConversation(plan.stickyKey, endpoint, current.usage) || sticky.find(plan.stickyKey) === key)
    sticky.remember(plan.stickyKey, key)
}
