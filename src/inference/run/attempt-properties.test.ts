/** Properties of the attempts of every run, from the request to the last one, whatever fails meanwhile. */
import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { attemptOf, endpoint, model, planOf } from '../../../test/support/plans.ts'
import { seeded } from '../../../test/support/seeded.ts'
import { createTestRouting } from '../../../test/support/test-routing.ts'
import type { RoutingPolicy } from '../../canonical/routing-policy.ts'
import { GatewayError } from '../../errors.ts'
import type { ModelEndpoint } from '../../models/model.ts'
import { createModels } from '../../models/models.ts'
import { ATTEMPTS_MAX, type Plan } from '../../routing/plan-attempts.ts'
import { type BegunAttempt, createAttemptOrder } from './attempt-order.ts'
import type { FailedAttempt } from './failover.ts'

const TAGS = ['a', 'b', 'c', 'd/priority', 'e'] as const
const IDS = ['m/one', 'm/two'] as const

const anyEndpoint = (tag: string): fc.Arbitrary<ModelEndpoint> =>
  fc
    .record({
      prices: fc.option(fc.record({ prompt: fc.integer({ min: 0, max: 2 }), completion: fc.constantFrom(0, 1) })),
      quantization: fc.constantFrom('fp8', 'int4', 'unknown'),
      contextLength: fc.option(fc.constantFrom(10, 1000, 100_000)),
      dataPolicy: fc.record({ training: fc.option(fc.boolean()), retains: fc.option(fc.boolean()) }),
      apiKeys: fc.subarray(['first', 'second']),
    })
    .map(({ apiKeys, ...reported }) => {
      const served = endpoint(tag, { ...reported, serviceTier: tag === 'd/priority' ? 'priority' : null })
      return { ...served, provider: { ...served.provider, apiKeys } }
    })

const anyModel = (id: string) =>
  fc
    .subarray([...TAGS], { minLength: 2 })
    .chain((tags) => fc.tuple(...tags.map(anyEndpoint)))
    .map((endpoints) => model(id, endpoints))

const anyNames = fc.subarray(['a', 'B', 'c inc.', 'd', 'd/priority', 'e', 'stranger'])

/** Absent in most requests, since few endpoints meet many conditions at once. */
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

const anyRequest = fc.record({
  names: fc.constantFrom<readonly string[]>(['m/one'], ['m/one', 'm/two'], ['m/two:free', 'm/one'], ['patchbay/auto'], ['patchbay/free']),
  tier: fc.constantFrom('priority', null),
  provider: fc.record({
    order: rarely(anyNames),
    only: rarely(anyNames),
    ignore: rarely(anyNames),
    allow_fallbacks: rarely(fc.constant(false)),
    zdr: rarely(fc.constant(true)),
    data_collection: rarely(fc.constant('deny')),
    quantizations: rarely(fc.subarray(['fp8', 'unknown'])),
    max_price: rarely(fc.record({ prompt: fc.constantFrom(0, 1) })),
    sort: rarely(fc.constantFrom('price', { by: 'latency', partition: 'none' })),
  }),
})

type Request = typeof anyRequest extends fc.Arbitrary<infer Value> ? Value : never

const OPEN: RoutingPolicy = {
  allowedModels: [],
  ignoredModels: [],
  allowedProviders: [],
  ignoredProviders: [],
  zdr: { anthropic: false, openai: false, google: false, xai: false, other: false },
  paidTraining: true,
  freeTraining: true,
  freePublication: true,
}

const anyPolicy = fc.record({
  ignoredProviders: fc.constantFrom([], [], ['a', 'd']),
  allowedModels: fc.constantFrom([], [], [['m/one']]),
  zdr: fc.constantFrom(false, false, true).map((other) => ({ ...OPEN.zdr, other })),
})

const FAILURES = {
  broken: { error: new GatewayError('provider_unavailable'), zone: 'sent', upstreamStatus: 500 },
  unreached: { error: new GatewayError('provider_unavailable'), zone: 'nothing-sent', upstreamStatus: null },
  inexpressible: { error: new GatewayError('invalid_request'), zone: 'not-asked', upstreamStatus: null },
  refused: { error: new GatewayError('provider_unavailable'), zone: 'sent', upstreamStatus: 401 },
  limited: { error: new GatewayError('rate_limit_exceeded'), zone: 'sent', upstreamStatus: 429 },
  tooLong: { error: new GatewayError('context_length_exceeded'), zone: 'sent', upstreamStatus: 400 },
  atFault: { error: new GatewayError('invalid_request'), zone: 'sent', upstreamStatus: 400 },
  delivered: { error: new GatewayError('provider_unavailable'), zone: 'delivered', upstreamStatus: 200 },
} satisfies Record<string, FailedAttempt>

const anyFailure = fc.constantFrom<keyof typeof FAILURES>('broken', 'broken', ...(Object.keys(FAILURES) as (keyof typeof FAILURES)[]))

/** Failures and pauses of endpoints, by the requests of others. */
const anyTrouble = fc.array(
  fc.record({
    key: fc.constantFrom(...IDS.flatMap((id) => TAGS.map((tag) => `${id} ${tag}`))),
    outcome: fc.constantFrom('failure', 'rate-limited', 'ok'),
    times: fc.constantFrom(1, 5),
  }),
  { maxLength: 6 },
)

const lists = (names: readonly string[], { tag, provider }: ModelEndpoint): boolean =>
  names.some((name) => [tag, provider.slug, provider.name].some((own) => own.toLowerCase() === name.toLowerCase()))

/** The request and the policy admit the endpoint, by the words of docs/contract/routing.md#preferences. */
const isAdmitted = (id: string, served: ModelEndpoint, { names, tier, provider }: Request, policy: Partial<RoutingPolicy>): boolean => {
  const { order = [], only = [], ignore = [], allow_fallbacks, zdr, data_collection, quantizations = [], max_price } = provider
  const { prices, dataPolicy, quantization } = served
  const isFree = names.includes('patchbay/free') || names.includes(`${id}:free`)
  return (
    (only.length === 0 || lists(only, served)) &&
    !lists([...ignore, ...(policy.ignoredProviders ?? [])], served) &&
    (allow_fallbacks !== false || order.length === 0 || lists(order, served)) &&
    (served.serviceTier === null || tier !== null || [...only, ...order].includes(served.tag)) &&
    ((zdr !== true && policy.zdr?.other !== true) || dataPolicy.retains === false) &&
    (data_collection !== 'deny' || dataPolicy.training === false) &&
    (quantizations.length === 0 || quantizations.some((one) => one === quantization)) &&
    (max_price === undefined || (prices !== null && prices.prompt <= max_price.prompt)) &&
    (!isFree || (prices !== null && prices.prompt + prices.completion === 0)) &&
    (policy.allowedModels ?? []).every((list) => list.includes(id))
  )
}

test('what is tried is the beginning of what was planned, admitted by request and policy, and no key of an endpoint is tried twice', () => {
  fc.assert(
    fc.property(
      fc.tuple(anyModel(IDS[0]), anyModel(IDS[1])),
      anyRequest,
      anyPolicy,
      fc.tuple(anyTrouble, anyTrouble),
      fc.array(anyFailure, { minLength: 8, maxLength: 8 }),
      fc.integer(),
      ([one, two], request, policy, [before, meanwhile], failures, seed) => {
        const routing = createTestRouting(createFakeClock())
        const { health } = routing
        const suffer = (troubles: typeof before): void => {
          for (const { key, times, ...report } of troubles) for (let time = 0; time < times; time += 1) attemptOf(health, key, report)
        }
        suffer(before)
        const { names, tier, provider } = request
        const planned = (): Plan | null => {
          try {
            return planOf(
              createModels([one, two], []),
              { model: names[0], models: names.slice(1), service_tier: tier, provider },
              {
                health,
                random: seeded(seed),
                policy: { ...OPEN, ...policy },
                sticky: seed % 2 === 0 ? null : () => 'm/one b',
              },
            )
          } catch (thrown) {
            if (thrown instanceof GatewayError && thrown.status === 503) return null
            throw thrown
          }
        }
        const plan = planned()
        if (plan === null) return
        suffer(meanwhile)
        const isOpen = new Set(plan.attempts.filter(({ key }) => health.of(key).breaker === 'open'))
        const order = createAttemptOrder(plan.attempts, routing, names.length > 1)
        const tried: BegunAttempt[] = []
        let failure: keyof typeof FAILURES | null = null
        const refused = new Set<string>()
        for (let begun = order.first(); begun !== null; begun = order.after(FAILURES[failure])) {
          tried.push(begun)
          failure = failures[tried.length - 1] ?? 'delivered'
          if (failure === 'tooLong' || failure === 'atFault') refused.add(begun.planned.model.id)
          const { key, endpoint: served } = begun.planned
          health.end(key, served.provider.slug, {
            outcome: 'fault-of-request',
            firstTokenMs: null,
            tokensPerSecond: null,
            retryAfterSeconds: null,
            retry: begun.retry,
          })
        }
        const positions = tried.map((each) => plan.attempts.indexOf(each.planned))
        expect(positions).toEqual(positions.toSorted((a, b) => a - b))
        expect(new Set(tried.map((each) => `${each.planned.key} ${each.credential.index}`)).size).toBe(tried.length)
        const endpoints = new Set(tried.map((each) => each.planned))
        expect(endpoints.size).toBeLessThanOrEqual(
          provider.allow_fallbacks === false && (provider.order ?? []).length === 0 ? 1 : ATTEMPTS_MAX,
        )
        for (const each of endpoints) {
          expect([each.key, isAdmitted(each.model.id, each.endpoint, request, policy)]).toEqual([each.key, true])
          expect(isOpen.has(each)).toBe(false)
        }
        // An endpoint that was passed over is named, or would have refused the request as another one of its model did.
        const named = new Set(order.notTried.map((each) => each.planned))
        const due = failure === 'delivered' ? plan.attempts.slice(0, Math.max(0, ...positions)) : plan.attempts
        for (const each of due) expect(endpoints.has(each) || named.has(each) || refused.has(each.model.id)).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})
