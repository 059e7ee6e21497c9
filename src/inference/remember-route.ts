import { bindsConversation, type Sticky } from '../routing/sticky.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { Run } from './run.ts'

type Ended = Pick<Run, 'plan'> & { readonly log: Pick<AttemptLog, 'current' | 'error' | 'cancelled'> }

/**
 * After a success the conversation goes on where it is, if that is worth anything; once it is bound, every success
 * counts (docs/contract/routing.md#sticky-routing).
 */
export const rememberRoute = ({ plan, log: { current, error, cancelled } }: Ended, sticky: Sticky): void => {
  if (plan.stickyKey === null || current === undefined || current.error !== null || error !== null || cancelled) return
  const { endpoint, key } = current.planned
  if (bindsConversation(plan.stickyKey, endpoint, current.usage) || sticky.find(plan.stickyKey) === key)
    sticky.remember(plan.stickyKey, key)
}
