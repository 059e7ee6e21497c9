import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { endpoint, planOf } from '../../../test/support/plans.ts'
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import { createSticky } from '../../routing/sticky.ts'
import { rememberRoute } from './remember-route.ts'
import type { AttemptOutcome } from '../run/attempt-outcome.ts'

const MINUTE = 60_000
const cached = { prices: { prompt: 2, completion: 2, cache_read: 0.2 } }
const plan = planOf([endpoint('a', cached), endpoint('b', cached)])
const WARM = usageOf({ inputCacheRead: 10 })
const COLD = usageOf({ inputFresh: 10 })

const begin = () => {
  const clock = createFakeClock()
  const sticky = createSticky({ clock })
  const end = (usage: Usage, more: { readonly error?: GatewayError; readonly cancelled?: boolean; readonly at?: number } = {}): void => {
    const { error = null, cancelled = false, at = 0 } = more
    const planned = plan.attempts[at]
    if (planned === undefined) throw new Error('not planned')
    const current: AttemptOutcome = {
      turn: 1,
      planned,
      credential: { apiKey: null, index: 0, isByok: false, rests: false },
      startedMs: 0,
      contentMs: null,
      endedMs: 0,
      error,
      asked: true,
      usage,
      upstreamStatus: 200,
      upstreamId: null,
    }
    rememberRoute({ request: { plan }, log: { current, error, cancelled } }, sticky)
  }
  return { clock, end, remembered: () => sticky.find(plan.stickyKey ?? '') }
}

describe('a conversation without a session', () => {
  test('is bound once a cache was used, and then by every success', () => {
    const { clock, end, remembered } = begin()
    end(COLD)
    expect(remembered()).toBeNull()
    end(WARM)
    clock.advance(9 * MINUTE)
    end(COLD)
    clock.advance(9 * MINUTE)
    expect(remembered()).toBe('m/one a')
  })

  test('is not bound to where it was answered without a cache', () => {
    const { end, remembered } = begin()
    end(WARM)
    end(COLD, { at: 1 })
    expect(remembered()).toBe('m/one a')
  })

  test('is not bound, nor kept, by a failure or a client that left', () => {
    const { clock, end, remembered } = begin()
    end(WARM, { error: new GatewayError('timeout') })
    end(WARM, { cancelled: true })
    expect(remembered()).toBeNull()
    end(WARM)
    clock.advance(9 * MINUTE)
    end(WARM, { error: new GatewayError('timeout') })
    clock.advance(2 * MINUTE)
    expect(remembered()).toBeNull()
  })
})
