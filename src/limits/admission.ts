/**
 * Whether an inference request may begin, the cheap reasons first (docs/contract/operating.md#admission): this process
 * keeps up, the key has not too many running and not too many a minute, the process has room. Refusals are ours, so no
 * provider hears of them.
 */
import { GatewayError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Rate, RateMeter, RateVerdict } from './gcra.ts'
import type { LoopLag } from './loop-lag.ts'
import { createAdmissionQueue, type Entry, type QueueSettings } from './admission-queue.ts'

/** Settings of the file; 0 means no bound. */
export interface Limits extends QueueSettings {
  readonly keyConcurrency: number
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly loopLagMs: number
}

/** Who asks: a key, with bounds of its own or null for those of the file. */
export interface Limited {
  readonly hash: string
  readonly rpmLimit: number | null
  readonly tpmLimit: number | null
}

/** What a request holds once it was let in. */
export interface Permit {
  /** From now on whoever answers ends it; else the request's end does. */
  handOver(): void
  readonly handedOver: boolean
  /** Once, with all tokens in and out; further calls do nothing. */
  end(tokens: number): void
}

export interface Admission {
  /** Throws `rate_limit_exceeded` and `provider_overloaded` as 503, both with `Retry-After`. `onEnd` is called once, when the permit ends. */
  enter(caller: Limited, onEnd?: () => void): Permit | Promise<Permit>
  /** Requests inside, and in line. */
  readonly inside: number
  readonly waiting: number
}

export interface AdmissionParts {
  readonly clock: Clock
  /** Counts the rates of this process. Another implementation may share the rates of several. */
  readonly meter: RateMeter
  readonly lag: Pick<LoopLag, 'p99Ms'>
  readonly limits: () => Limits
}

const MINUTE_MS = 60_000

export const createAdmission = ({ clock, meter, lag, limits }: AdmissionParts): Admission => {
  const queue = createAdmissionQueue(clock, limits)
  const running = new Map<string, number>()

  const count = (hash: string, change: number): void => {
    const now = (running.get(hash) ?? 0) + change
    if (now > 0) running.set(hash, now)
    else running.delete(hash)
  }

  const takeRates = ({ hash, rpmLimit, tpmLimit }: Limited): Rate | null => {
    const { requestsPerMinute, tokensPerMinute } = limits()
    const requests = rpmLimit ?? requestsPerMinute
    const tokens = tpmLimit ?? tokensPerMinute
    const nowMs = clock.monotonicMs()
    const tokenRate = tokens === 0 ? null : { limit: tokens, perMs: MINUTE_MS }
    // How many tokens it will be nobody knows yet: it is let in while one is left, and charged when they were counted.
    if (tokenRate !== null) refuseUnless(meter.take(tokensOf(hash, tokenRate), 1, tokenRate, nowMs), tokens, 'tokens', clock.now())
    if (requests > 0) {
      const verdict = meter.take(`requests ${hash} ${requests}`, 1, { limit: requests, perMs: MINUTE_MS }, nowMs)
      refuseUnless(verdict, requests, 'requests', clock.now())
    }
    return tokenRate
  }

  const permitFor = ({ hash }: Limited, tokenRate: Rate | null, onEnd: (() => void) | undefined): Permit => {
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
        count(hash, -1)
        queue.leave(hash)
        onEnd?.()
        // One was taken at the door.
        if (tokenRate !== null) meter.settle(tokensOf(hash, tokenRate), tokens - 1, tokenRate, clock.monotonicMs())
      },
    }
  }

  return {
    enter(caller, onEnd) {
      const { keyConcurrency, loopLagMs } = limits()
      if (loopLagMs > 0 && lag.p99Ms > loopLagMs) throw overloaded('The service is overloaded.')
      if (keyConcurrency > 0 && (running.get(caller.hash) ?? 0) >= keyConcurrency) {
        throw new GatewayError('rate_limit_exceeded', `This key is at its limit of ${keyConcurrency} concurrent requests.`, {
          retryAfterSeconds: 1,
          metadata: { reason: 'key_concurrency', limit: keyConcurrency },
        })
      }
      const tokenRate = takeRates(caller)
      count(caller.hash, 1)
      const admitted = queue.enter(caller.hash)
      const decide = (entry: Entry): Permit => {
        if (entry === 'inside') return permitFor(caller, tokenRate, onEnd)
        count(caller.hash, -1)
        throw entry === 'full' ? overloaded('The service answers as many requests as it can.') : shareTaken()
      }
      return admitted instanceof Promise ? admitted.then(decide) : decide(admitted)
    },
    get inside() {
      return queue.inside
    },
    get waiting() {
      return queue.waiting
    },
  }
}

/** Changing the limit resets its counter. */
const tokensOf = (hash: string, { limit }: Rate): string => `tokens ${hash} ${limit}`

const overloaded = (message: string): GatewayError =>
  new GatewayError('provider_overloaded', `${message} Try again shortly.`, { status: 503, retryAfterSeconds: 2 })

const shareTaken = (): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    'This key has its share of what the service answers at once; the rest is for others. Try again shortly.',
    {
      retryAfterSeconds: 1,
      metadata: { reason: 'key_share' },
    },
  )

/** `nowMs`: the wall clock, for the instant of the reset. */
const refuseUnless = (verdict: RateVerdict, limit: number, unit: 'requests' | 'tokens', nowMs: number): void => {
  if (verdict.allowed) return
  const seconds = Math.max(1, Math.ceil(verdict.retryAfterMs / 1000))
  throw new GatewayError('rate_limit_exceeded', `This key may use ${limit} ${unit} a minute. Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
    metadata: {
      reason: `${unit}_per_minute`,
      rate_limit: { limit, remaining: verdict.remaining, reset: Math.ceil(nowMs + verdict.resetMs) },
    },
  })
}
