/**
 * Decides if an inference request may begin, with the cheapest checks first (docs/contract/operating.md#admission): this process keeps up,
 * the key has not too many requests running or in this minute, and the process has room. These refusals are ours, so no provider is asked.
 */
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { PlacesElsewhere } from '../lib/fair-places.ts'
import type { BoundReached, KeyBounds } from '../storage/limits/limit-store.ts'
import type { KeyMeter } from './key-meter.ts'
import type { LoopLag } from './loop-lag.ts'
import { type AdmissionQueue, createAdmissionQueue, type Entry, type QueueSettings } from './admission-queue.ts'

/** Settings of the configuration file; 0 means no bound. */
export interface Limits extends QueueSettings {
  readonly keyConcurrency: number
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly loopLagMs: number
}

/** The key that asks; its bounds are null if those of the file apply. */
export interface Limited {
  readonly hash: string
  readonly rpmLimit: number | null
  readonly tpmLimit: number | null
}

/** The places that an admitted request occupies. */
export interface Permit {
  /** From now on the code that answers must end the permit; otherwise it ends with the request. */
  handOver(): void
  readonly handedOver: boolean
  /** Call it once, with the sum of input and output tokens; further calls do nothing. */
  end(tokens: number): void
}

export interface Admission extends Pick<AdmissionQueue, 'inside' | 'waiting' | 'held' | 'admitWaiting'> {
  /**
   * Throws `rate_limit_exceeded` and `provider_overloaded` as 503, both with `Retry-After`. `onEnd` is called once, when the permit ends.
   */
  enter(caller: Limited, onEnd?: () => void): Permit | Promise<Permit>
}

export interface AdmissionParts {
  readonly clock: Clock
  readonly meter: KeyMeter
  readonly lag: Pick<LoopLag, 'p99Ms'>
  readonly limits: () => Limits
  /** The places of the other nodes. */
  readonly elsewhere?: PlacesElsewhere
}

export const createAdmission = ({ clock, meter, lag, limits, elsewhere }: AdmissionParts): Admission => {
  const queue = createAdmissionQueue(clock, limits, elsewhere)

  const boundsOf = ({ hash, rpmLimit, tpmLimit }: Limited): KeyBounds => {
    const { keyConcurrency, requestsPerMinute, tokensPerMinute } = limits()
    return {
      hash,
      concurrency: keyConcurrency,
      requestsPerMinute: rpmLimit ?? requestsPerMinute,
      tokensPerMinute: tpmLimit ?? tokensPerMinute,
    }
  }

  const permitFor = (bounds: KeyBounds, onEnd: (() => void) | undefined): Permit => {
    let ended = false
    let handedOver = false
    return {
      get handedOver() {
        return handedOver
      },
      handOver() {
        handedOver = true
      },
      end(tokens) {
        if (ended) return
        ended = true
        meter.leave(bounds, tokens)
        queue.leave(bounds.hash)
        onEnd?.()
      },
    }
  }

  const findPlace = (bounds: KeyBounds, onEnd: (() => void) | undefined): Permit | Promise<Permit> => {
    const found = queue.enter(bounds.hash)
    const decide = (entry: Entry): Permit => {
      if (entry === 'inside') return permitFor(bounds, onEnd)
      meter.giveBack(bounds)
      throw entry === 'full' ? overloaded('The service answers as many requests as it can.') : shareTaken()
    }
    return found instanceof Promise ? found.then(decide) : decide(found)
  }

  return {
    enter(caller, onEnd) {
      const { loopLagMs } = limits()
      if (loopLagMs > 0 && lag.p99Ms > loopLagMs) throw overloaded('The service is overloaded.')
      const bounds = boundsOf(caller)
      const decide = (reached: BoundReached | null): Permit | Promise<Permit> => {
        if (reached !== null) throw boundReached(reached, bounds, clock.now())
        return findPlace(bounds, onEnd)
      }
      const reached = meter.enter(bounds)
      return reached instanceof Promise ? reached.then(decide) : decide(reached)
    },
    get inside() {
      return queue.inside
    },
    get waiting() {
      return queue.waiting
    },
    held: queue.held,
    admitWaiting: queue.admitWaiting,
  }
}

const overloaded = (message: string): GatewayError =>
  new GatewayError('provider_overloaded', `${message} Try again shortly.`, { status: 503, retryAfterSeconds: 2 })

const shareTaken = (): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    'This key already has its share of the requests that the service answers at once. Try again shortly.',
    {
      retryAfterSeconds: 1,
      metadata: { reason: 'key_share' },
    },
  )

/** `nowMs`: the wall clock, to compute the instant of the reset. */
const boundReached = ({ bound, remaining, retryAfterMs, resetMs }: BoundReached, bounds: KeyBounds, nowMs: number): GatewayError => {
  if (bound === 'concurrency') {
    return new GatewayError(
      'rate_limit_exceeded',
      `This key is at its limit of ${bounds.concurrency} concurrent requests. Try again when one has ended.`,
      {
        retryAfterSeconds: 1,
        metadata: { reason: 'key_concurrency', limit: bounds.concurrency },
      },
    )
  }
  const limit = bound === 'tokens' ? bounds.tokensPerMinute : bounds.requestsPerMinute
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new GatewayError('rate_limit_exceeded', `This key may use ${limit} ${bound} a minute. Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
    metadata: {
      reason: `${bound}_per_minute`,
      rate_limit: { limit, remaining, reset: Math.ceil(nowMs + resetMs) },
    },
  })
}
