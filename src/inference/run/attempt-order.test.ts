import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { endpoint, model, planOf } from '../../../test/support/plans.ts'
import { createTestRouting } from '../../../test/support/test-routing.ts'
import { GatewayError, type ErrorType } from '../../errors.ts'
import { createModels } from '../../models/models.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import { createAttemptOrder } from './attempt-order.ts'
import type { FailedAttempt } from './failover.ts'

/** The tags of the endpoints that are asked if each fails with this error. */
const asked = (type: ErrorType, contexts: readonly (number | null)[]): string => {
  const served = contexts.map((contextLength, index) => endpoint('abcd'.charAt(index), { contextLength }))
  const order = createAttemptOrder(planOf(served).attempts, createTestRouting(createFakeClock()), false)
  const tags: string[] = []
  for (let begun = order.first(); begun !== null;) {
    tags.push(begun.planned.endpoint.tag)
    begun = order.after({ error: new GatewayError(type), zone: 'sent', upstreamStatus: 400 })
  }
  return tags.join(' ')
}

test('a prompt that is too long for one provider is tried where the model is served with more context, and nowhere else', () => {
  expect(asked('context_length_exceeded', [100, 100, 200, 150])).toBe('a c')
  expect(asked('context_length_exceeded', [100, null])).toBe('a')
  expect(asked('context_length_exceeded', [null, 200])).toBe('a')
})

test('a request that is at fault is tried nowhere else', () => {
  expect(asked('invalid_request', [100, 200])).toBe('a')
})

test('an answer of which the client has content is given by no other provider', () => {
  expect(failing(planned([[], []]), { ...BROKEN, zone: 'delivered' })).toMatchObject({ asked: ['a null'], notTried: [] })
})

const REFUSED: FailedAttempt = { error: new GatewayError('provider_unavailable'), zone: 'sent', upstreamStatus: 401 }
const BROKEN: FailedAttempt = { error: new GatewayError('provider_unavailable'), zone: 'sent', upstreamStatus: 500 }
const LIMITED: FailedAttempt = { error: new GatewayError('rate_limit_exceeded'), zone: 'sent', upstreamStatus: 429 }

describe('the retry budget of a provider', () => {
  const failed = { error: new GatewayError('provider_unavailable'), zone: 'sent', upstreamStatus: 500 } as const
  const models = createModels([model('m/bad', [endpoint('p')]), model('m/ok', [endpoint('p')])], [])

  /** The number of concurrent requests that reach their second attempt, and the attempts that were not tried. */
  const second = (
    requests: number,
    named: boolean,
    routing = createTestRouting(createFakeClock()),
    served = models,
  ): readonly [number, readonly string[]] => {
    const { attempts } = planOf(served, { model: 'm/bad', models: ['m/bad', 'm/ok'] })
    const orders = Array.from({ length: requests }, () => createAttemptOrder(attempts, routing, named))
    for (const order of orders) order.first()
    const reached = orders.filter((order) => order.after(failed) !== null).length
    return [reached, orders.flatMap(({ notTried }) => notTried.map(({ planned, why }) => `${planned.model.id} ${why}`))]
  }

  test('does not count the models that a request names itself: each of 30 at once reaches its fallback', () => {
    expect(second(30, true)).toEqual([30, []])
  })

  test('counts what we try by ourselves, and says what it kept from being tried', () => {
    const [reached, notTried] = second(30, false)
    expect(reached).toBeLessThan(10)
    expect(notTried).toEqual(Array.from({ length: 30 - reached }, () => 'm/ok retries'))
  })

  test('counts another endpoint of a model that the request names', () => {
    const twice = createModels([model('m/bad', [endpoint('p'), endpoint('p/other')]), model('m/ok', [endpoint('q')])], [])
    expect(second(30, true, createTestRouting(createFakeClock()), twice)[1]).toContain('m/bad retries')
  })

  const elsewhere = createModels([model('m/bad', [endpoint('p')]), model('m/ok', [endpoint('q')])], [])

  test('does not count a provider that is well and was not asked yet: each of 30 at once reaches it when the first one fails', () => {
    expect(second(30, false, createTestRouting(createFakeClock()), elsewhere)).toEqual([30, []])
  })

  test.each([REFUSED, LIMITED])(
    'does not count the next key of a provider whose key failed: each of 30 at once reaches the one that works',
    (fault) => {
      const routing = createTestRouting(createFakeClock())
      const attempts = planned([['1', '2', '3', '4', '5', 'works']])
      const orders = Array.from({ length: 30 }, () => createAttemptOrder(attempts, routing, false))
      let keys = orders.map((order) => order.first()?.credential.apiKey)
      for (const key of ['1', '2', '3', '4', '5']) {
        expect(new Set(keys)).toEqual(new Set([key]))
        // Each of them was chosen before any of them failed.
        keys = orders.map((order) => order.after(fault)?.credential.apiKey)
      }
      expect(keys).toEqual(orders.map(() => 'works'))
    },
  )

  test('counts another key that failed before', () => {
    const [attempt] = planned([['one', 'two']])
    const routing = createTestRouting(createFakeClock())
    const { provider } = attempt?.endpoint ?? {}
    if (provider === undefined) throw new Error('no attempt')
    for (const [index, apiKey] of provider.apiKeys.entries()) routing.credentials.report(provider, { apiKey, index }, 'limited', 60)
    const orders = Array.from({ length: 30 }, () => createAttemptOrder(attempt === undefined ? [] : [attempt], routing, false))
    for (const order of orders) order.first()
    expect(orders.filter((order) => order.after(LIMITED) !== null).length).toBeLessThan(10)
  })

  test('counts a provider that was not asked yet while it fails or is limited too: an outage of all gets no storm of repetitions', () => {
    for (const outcome of ['failure', 'rate-limited'] as const) {
      const routing = createTestRouting(createFakeClock())
      const key = planOf(elsewhere, { model: 'm/ok' }).attempts[0]?.key ?? ''
      for (let time = 0; time < 3; time += 1) {
        routing.health.begin(key, 'q')
        routing.health.end(key, 'q', { outcome, firstTokenMs: null, tokensPerSecond: null, retryAfterSeconds: null })
      }
      const [reached, notTried] = second(30, false, routing, elsewhere)
      expect([reached, new Set(notTried)]).toEqual([3, new Set(['m/ok retries'])])
    }
  })

  test('keeps no request from its first attempt', () => {
    const routing = createTestRouting(createFakeClock())
    second(30, false, routing)
    expect(routing.health.mayRetry('p')).toBe(false)
    expect(createAttemptOrder(planOf(models, { model: 'm/bad' }).attempts, routing, false).first()).not.toBeNull()
  })
})

/** The attempts on endpoints whose providers have these keys. */
const planned = (keys: readonly (readonly string[])[]): readonly PlannedAttempt[] => {
  const served = keys.map((apiKeys, index) => {
    const { provider, ...rest } = endpoint('abcdef'.charAt(index))
    return { ...rest, provider: { ...provider, apiKeys } }
  })
  // Each endpoint is planned alone: a plan is cut to as many attempts as may be made.
  return served.flatMap((each) => planOf([each]).attempts)
}

/**
 * Lists what is asked if every attempt fails like this: each tag with the key, what was not tried, and the alarms about keys. All keys of the
 * provider of `resting` rest already.
 */
const failing = (attempts: readonly PlannedAttempt[], failure: FailedAttempt, resting?: PlannedAttempt) => {
  const alarms: string[] = []
  const routing = createTestRouting(createFakeClock(), (provider, index) => alarms.push(`${provider} ${index}`))
  if (resting !== undefined) {
    const { provider } = resting.endpoint
    for (const [index, apiKey] of provider.apiKeys.entries()) routing.credentials.report(provider, { apiKey, index }, 'limited', 60)
  }
  const order = createAttemptOrder(attempts, routing, false)
  const begun: { readonly asked: string; readonly spareKeys: boolean; readonly isByok: boolean }[] = []
  for (let next = order.first(); next !== null; next = order.after(failure)) {
    const { planned, credential, spareKeys } = next
    begun.push({ asked: `${planned.endpoint.tag} ${credential.apiKey}`, spareKeys, isByok: credential.isByok })
    routing.health.end(planned.key, planned.endpoint.provider.slug, {
      outcome: 'ok',
      firstTokenMs: null,
      tokensPerSecond: null,
      retryAfterSeconds: null,
      retry: next.retry,
    })
  }
  const notTried = order.notTried.map((each) => `${each.planned.endpoint.tag} ${each.why}`)
  return { begun, asked: begun.map(({ asked }) => asked), notTried, alarms }
}

describe('the keys of a provider', () => {
  test('are tried in turn before the next provider, and the last of them counts as the endpoint’s', () => {
    const { begun, notTried, alarms } = failing(planned([['one', 'two'], ['three'], ['four', 'five']]), REFUSED)
    expect(begun).toEqual([
      { asked: 'a one', spareKeys: true, isByok: false },
      { asked: 'a two', spareKeys: false, isByok: false },
      { asked: 'b three', spareKeys: false, isByok: false },
      { asked: 'c four', spareKeys: true, isByok: false },
      { asked: 'c five', spareKeys: false, isByok: false },
    ])
    expect([notTried, alarms]).toEqual([[], ['a 0', 'a 1', 'b 0', 'c 0', 'c 1']])
  })

  test('take no turn from the providers that follow, however many of them are newly set aside', () => {
    const { asked } = failing(planned([['1', '2', '3', '4', '5'], [], [], []]), REFUSED)
    expect(asked).toEqual(['a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'b null', 'c null', 'd null'])
  })

  test('are not tried one after the other where the provider itself failed', () => {
    expect(failing(planned([['1', '2'], ['3']]), BROKEN).asked).toEqual(['a 1', 'b 3'])
  })

  test('that are known to rest take no turn from the providers that follow either', () => {
    const attempts = planned([['1', '2', '3'], ['4'], ['5']])
    expect(failing(attempts, LIMITED, attempts[0]).asked).toEqual(['a 1', 'a 2', 'b 4', 'c 5'])
  })

  test('that are known to rest are tried no more often than an endpoint may be', () => {
    const attempts = planned([
      ['1', '2'],
      ['3', '4', '5', '6', '7'],
    ])
    expect(failing(attempts, LIMITED, attempts[1]).asked).toEqual(['a 1', 'a 2', 'b 3', 'b 4', 'b 5', 'b 6'])
  })
})

describe('a customer’s own key', () => {
  const [shared] = planned([['operator’s']])
  if (shared === undefined) throw new Error('not planned')
  const own = { ...shared, customerKey: { id: 'c', apiKey: 'own', isFallback: false } }

  test('is tried once, is no endpoint’s fault, and raises no alarm of the operator', () => {
    const { begun, alarms } = failing([own, shared], REFUSED)
    expect(begun).toEqual([
      { asked: 'a own', spareKeys: true, isByok: true },
      { asked: 'a operator’s', spareKeys: false, isByok: false },
    ])
    expect(alarms).toEqual(['a 0'])
  })

  test('that is refused keeps the operator’s key of the same provider in use', () => {
    const routing = createTestRouting(createFakeClock())
    const order = createAttemptOrder([own], routing, false)
    order.first()
    expect(order.after(REFUSED)).toBeNull()
    expect(routing.credentials.states(shared.endpoint.provider)).toMatchObject([{ refusedAt: null, restsUntil: null }])
  })
})

test('at most four attempts are made, and the candidates that are left are named', () => {
  const { asked, notTried } = failing(planned([[], [], [], [], [], []]), BROKEN)
  expect([asked, notTried]).toEqual([
    ['a null', 'b null', 'c null', 'd null'],
    ['e enough', 'f enough'],
  ])
})

test('a key rests for as long as the provider says', () => {
  const clock = createFakeClock()
  const routing = createTestRouting(clock)
  const attempts = planned([['one', 'two']])
  const order = createAttemptOrder(attempts, routing, false)
  order.first()
  order.after({ ...LIMITED, error: new GatewayError('rate_limit_exceeded', undefined, { retryAfterSeconds: 60 }) })
  const next = (): string | null => createAttemptOrder(attempts, routing, false).first()?.credential.apiKey ?? null
  clock.advance(59_000)
  expect(next()).toBe('two')
  clock.advance(1000)
  expect(next()).toBe('one')
})

test('an endpoint that is closed or being probed, and a provider that is full, are passed over and named', () => {
  const routing = createTestRouting(createFakeClock())
  const obstacles = new Map([
    ['m/one a', 'broken' as const],
    ['m/one b', 'full' as const],
    ['m/one c', null],
  ])
  const health = {
    ...routing.health,
    obstacle: (key: string) => obstacles.get(key) ?? null,
    begin: (key: string) => !obstacles.has(key),
  }
  const order = createAttemptOrder(planned([[], [], [], []]), { ...routing, health }, false)
  expect(order.first()?.planned.key).toBe('m/one d')
  expect(order.notTried.map(({ planned: { key }, why }) => `${key} ${why}`)).toEqual(['m/one a broken', 'm/one b full', 'm/one c broken'])
})
