import { bindsConversation, type Sticky } from '../routing/sticky.ts'
import type { Run } from './run.ts'

type Ended = Pick<Run, 'plan' | 'current' | 'error' | 'cancelled' | 'usage'>

/**
 * After a success the conversation goes on where it is, if that is worth anything; once it is bound, every success
 * counts (docs/contract/routing.md#sticky-routing).
 */
export const rememberRoute = ({ plan, current, error, cancelled, usage }: Ended, sticky: Sticky): void => {
  if (plan.stickyKey === null || current === undefined || current.error !== null || error !== null || cancelled) return
  const { endpoint, key } = current.planned
  if (bindsConversation(plan.stickyKey, endpoint, usage) || sticky.find(plan.stickyKey) === key) sticky.remember(plan.stickyKey, key)
}
