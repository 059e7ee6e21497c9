/** The parts that admit requests, built and joined. */
import { createAdmission, type Admission } from '../limits/admission.ts'
import { createBodyRoom, type BodyRoom } from '../limits/body-room.ts'
import { createLoopLag, type LoopLag } from '../limits/loop-lag.ts'
import { createNodePlaces, type NodePlaces } from '../limits/node-places.ts'
import { createSharedMeter, type SharedMeter } from '../limits/shared-meter.ts'
import type { Clock } from '../lib/clock.ts'
import { createAnswerRoom, type AnswerRoom } from '../providers/transport/answer-room.ts'
import type { LimitStore } from '../storage/limits/limit-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Reloadable } from './reloadable.ts'

export interface LimitParts {
  readonly lag: LoopLag
  readonly meter: SharedMeter
  readonly admission: Admission
  readonly bodyRoom: BodyRoom
  readonly answerRoom: AnswerRoom
  readonly nodePlaces: NodePlaces
}

export const composeLimits = (parts: {
  readonly clock: Clock
  readonly cpuMs: () => number
  readonly log: Log
  readonly metrics: Metrics
  readonly reloadable: Reloadable
  readonly limitStore: LimitStore | null
  readonly nodesSeen: () => number
}): LimitParts => {
  const { clock, cpuMs, log, metrics, reloadable, limitStore, nodesSeen } = parts
  const lag = createLoopLag(clock, cpuMs)
  const meter = createSharedMeter({
    clock,
    store: limitStore,
    nodes: nodesSeen,
    timeoutMs: () => reloadable.settings.storeTimeoutMs,
    onAway(thrown) {
      const name = limitStore?.name ?? ''
      if (thrown === null) log.info({ store: name }, 'limits of keys are counted by all nodes together again')
      else
        log.warn({ store: name, nodes: nodesSeen(), error: thrown }, 'limits of keys are not counted together: this node keeps to its part')
    },
  })
  const nodePlaces: NodePlaces = createNodePlaces({
    clock,
    consult: meter.consult,
    own: () => ({ most: reloadable.settings.limits.most, taken: admission.inside, held: admission.held }),
    onHeard: () => admission.admitWaiting(),
  })
  const admission = createAdmission({ clock, meter, lag, limits: () => reloadable.settings.limits, elsewhere: nodePlaces })
  const bodyRoom = createBodyRoom(() => reloadable.settings.bodyRoom)
  metrics.gauge('patchbay_request_body_bytes', 'Bytes of request bodies in memory.', () => bodyRoom.bytes)
  metrics.gauge('patchbay_unread_answer_bytes', 'Characters of answers that clients have not read yet.', () => bodyRoom.unreadBytes)
  const answerRoom = createAnswerRoom(() => reloadable.settings.answerBytes)
  metrics.gauge('patchbay_whole_answer_bytes', "Bytes of providers' large answers that are being read or kept.", () => answerRoom.bytes)
  metrics.gauge('patchbay_requests_inside', 'Inference requests that were let in.', () => admission.inside)
  metrics.gauge('patchbay_requests_waiting', 'Inference requests that wait to be let in.', () => admission.waiting)
  metrics.gauge(
    'patchbay_places_free_elsewhere',
    'Places for requests that other nodes had free at their last report.',
    () => nodePlaces.free,
  )
  metrics.gauge('patchbay_limit_store_away', '1 while the nodes do not count the limits of keys together.', () => Number(meter.away))
  metrics.gauge(
    'patchbay_limits_decided_alone',
    'Requests whose limits this node decided by its own part of them, because the store did not answer.',
    () => meter.decidedAlone,
  )
  return { lag, meter, admission, bodyRoom, answerRoom, nodePlaces }
}
