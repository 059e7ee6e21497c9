import type { Frame, TakeFrames } from '../../canonical/event.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { Hold } from '../admit/hold.ts'

/**
 * A stream goes on once what the provider's own tools do in it is held. If the model has finished, no more can be spent.
 */
export const holdingTools = (hold: Pick<Hold, 'coverTools'>, planned: PlannedAttempt, pass: TakeFrames): TakeFrames => {
  let finished = false
  return (batch) => {
    const passed = pass(batch)
    finished ||= batch.some(({ events }) => events.some(({ type }) => type === 'finish'))
    const counts = finished ? null : countsIn(batch)
    if (counts === null) return passed
    return passed === undefined ? hold.coverTools(planned, counts) : passed.then(() => hold.coverTools(planned, counts))
  }
}

/** The newest counts, with those of tools that are at work; null if there are none. */
const countsIn = (batch: readonly Frame[]): Usage | null => {
  let counts: Usage | null = null
  for (const { events } of batch) for (const event of events) if (event.type === 'usage') counts = event.underWay ?? event.usage
  return counts
}
