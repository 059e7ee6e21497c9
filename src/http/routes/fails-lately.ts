import type { EndpointHistory } from '../../storage/nodes/endpoint-health.ts'

/** A failure that no success has followed counts for this long. */
const FRESH_MS = 10 * 60 * 1000

/** A success makes up for a few failures, and not for these: otherwise an endpoint that fails every other time would look well half the time. */
const OFTEN = { failures: 3, share: 0.1, withinMs: 5 * 60 * 1000 }

interface Slot {
  readonly ok: number
  readonly failed: number
}

/** `strip`: the half hours until now, the current one last. Two of them count, so that nothing is forgotten as one begins. See decisions/0242. */
export const failsLately = (history: EndpointHistory | undefined, strip: readonly Slot[], nowMs: number): boolean => {
  const { okAt = null, lastError = null } = history ?? {}
  if (lastError === null) return false
  const agoMs = nowMs - Date.parse(lastError.at)
  if (lastError.at > (okAt ?? '')) return agoMs < FRESH_MS
  const lately = strip.slice(-2)
  const failed = lately.reduce((sum, slot) => sum + slot.failed, 0)
  const asked = lately.reduce((sum, slot) => sum + slot.failed + slot.ok, 0)
  return agoMs < OFTEN.withinMs && failed >= OFTEN.failures && failed >= asked * OFTEN.share
}
