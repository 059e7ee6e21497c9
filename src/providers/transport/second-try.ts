/** The parts of a wrapper that sends an attempt a second time, in another form, after the provider has refused it. */
import type { TakeFrames } from '../../canonical/event.ts'
import type { Warning } from '../../canonical/warning.ts'
import { GatewayError } from '../../errors.ts'
import type { Attempt, ProviderAdapter } from '../provider.ts'

type TailOf<F> = F extends (first: Attempt, ...rest: infer Rest) => unknown ? Rest : never

/**
 * Returns the refusal, or null if the server answered. Each try has a connection of its own, since one whose answer was cut off cannot be
 * used again.
 */
export const refusalOf = async (
  adapter: ProviderAdapter,
  attempt: Attempt,
  ...rest: TailOf<ProviderAdapter>
): Promise<GatewayError | null> => {
  const outer = attempt.connection.signal
  const connection = new AbortController()
  const end = (): void => connection.abort(outer.reason)
  if (outer.aborted) end()
  outer.addEventListener('abort', end, { once: true })
  try {
    await adapter({ ...attempt, connection }, ...rest)
    return null
  } catch (thrown) {
    if (outer.aborted || !(thrown instanceof GatewayError)) throw thrown
    return thrown
  } finally {
    outer.removeEventListener('abort', end)
  }
}

/** Calls `answered` with the first frames that say something: after them no second try is possible. */
export const beginning =
  (take: TakeFrames, answered: () => void): TakeFrames =>
  (frames) => {
    if (frames.some(({ events }) => events.length > 0)) answered()
    return take(frames)
  }

/** The request is encoded again after a refusal; no warning about it is given twice. */
export const warningOnce = (warn: Attempt['warn']): Attempt['warn'] => {
  const reported = new Set<string>()
  return (warning: Warning) => {
    const key = JSON.stringify([warning.code, warning.field, warning.message])
    if (reported.has(key)) return
    reported.add(key)
    warn(warning)
  }
}
