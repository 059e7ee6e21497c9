import { bindsConversation, type Sticky } from '../routing/sticky.ts'
import type { Run } from './run.ts'

/** After a success the conversation goes on where it is, if that is worth anything (contract 5.7). */
export const rememberRoute = ({ plan, current, error, cancelled, usage }: Run, sticky: Sticky): void => {
  if (plan.stickyKey === null || current === undefined || current.error !== null || error !== null || cancelled) return
  const { endpoint, key } = current.planned
  if (bindsConversation(plan.stickyKey, endpoint, usage)) sticky.remember(plan.stickyKey, key)
}
