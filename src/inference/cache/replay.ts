import type { TakeFrames } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import type { Admitted } from '../admitted.ts'
import type { CacheHit } from './cache-use.ts'

/** Gives a cached answer instead of a run: no provider is asked, and no tool runs again. Resolves as a run does. */
export const replay = async ({ log, connection }: Admitted, { answer }: CacheHit, take: TakeFrames): Promise<GatewayError | null> => {
  const { frames, losses } = answer
  for (const loss of losses) log.lose(loss)
  log.observe(frames)
  const behind = take(frames)
  if (behind !== undefined) await behind
  return connection.stopReason === null ? null : log.refuse(connection.stopReason)
}
