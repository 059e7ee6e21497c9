/** The parts that let requests in, built and joined. */
import { createAdmission, type Admission } from '../limits/admission.ts'
import { createBodyRoom, type BodyRoom } from '../limits/body-room.ts'
import { createRateMeter } from '../limits/gcra.ts'
import { createLoopLag, type LoopLag } from '../limits/loop-lag.ts'
import type { Clock } from '../lib/clock.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Reloadable } from './reloadable.ts'

export interface LimitParts {
  readonly lag: LoopLag
  readonly admission: Admission
  readonly bodyRoom: BodyRoom
}

/** Keys whose rates are remembered, twice. */
const RATE_NAMES_MAX = 100_000

export const composeLimits = (clock: Clock, metrics: Metrics, reloadable: Reloadable): LimitParts => {
  const lag = createLoopLag(clock)
  const admission = createAdmission({
    clock,
    meter: createRateMeter(RATE_NAMES_MAX),
    lag,
    limits: () => reloadable.settings.limits,
  })
  const bodyRoom = createBodyRoom(() => reloadable.settings.bodyRoom)
  metrics.gauge('patchbay_request_body_bytes', 'Bytes of request bodies in memory.', () => bodyRoom.bytes)
  metrics.gauge('patchbay_requests_inside', 'Inference requests that were let in.', () => admission.inside)
  metrics.gauge('patchbay_requests_waiting', 'Inference requests that wait to be let in.', () => admission.waiting)
  return { lag, admission, bodyRoom }
}
