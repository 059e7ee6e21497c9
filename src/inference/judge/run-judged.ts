/** A run whose message is judged before it is delivered. */
import type { Frame, TakeFrames } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import type { Admitted } from '../admitted.ts'
import type { Running } from '../run/attempt.ts'
import { run, type RunParts } from '../run/run.ts'
import type { Judge } from './judge.ts'

export interface JudgedRunning extends Running, Pick<Admitted, 'judge'> {}

/** The same as `run` if there is no judge. */
export const runJudged = (running: JudgedRunning, parts: RunParts, take: TakeFrames): Promise<GatewayError | null> => {
  const { judge } = running
  if (judge === null) return run(running, parts, take)
  return judge.alignment.enforces ? enforced(running, judge, parts, take) : audited(running, judge, parts, take)
}

/**
 * An answer that breaks a rule is made again, as often as allowed. The client gets the allowed answer or an error, and nothing before that.
 */
const enforced = async (running: JudgedRunning, judge: Judge, parts: RunParts, take: TakeFrames): Promise<GatewayError | null> => {
  const { log, connection } = running
  for (let retries = 0; ; retries += 1) {
    const frames: Frame[] = []
    const error = await run(running, parts, (batch) => {
      // Only what the judge reads is passed on: a provider's own JSON may contain something that no event carries.
      for (const { events } of batch) frames.push({ events })
      return undefined
    })
    if (error !== null || connection.stopped) return error ?? stopOf(running)
    const judged = await judge.judge(frames)
    if (connection.stopped) return stopOf(running)
    if (judged.outcome === 'allowed') {
      const behind = take(frames)
      if (behind !== undefined) await behind
      return null
    }
    if (judged.outcome === 'unjudged' || retries >= judge.alignment.maxRetries) return log.refuse(judge.refusal(judged))
    judge.again()
  }
}

/** The answer goes out as it comes, and the finding is reported with it. */
const audited = async (running: JudgedRunning, judge: Judge, parts: RunParts, take: TakeFrames): Promise<GatewayError | null> => {
  const said: Frame[] = []
  const error = await run(running, parts, (batch) => {
    said.push(...batch)
    return take(batch)
  })
  if (error === null && !running.connection.stopped) await judge.judge(said)
  return error
}

/** Nobody waits for a verdict on an answer that its client has left, and that was read to its end for its usage alone. */
const stopOf = ({ log, connection: { stopReason } }: JudgedRunning): GatewayError | null =>
  stopReason === null ? null : log.refuse(stopReason)
