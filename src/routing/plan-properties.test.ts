/** Properties of every plan, whatever the request and the health of the providers. */
import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { seeded } from '../../test/support/seeded.ts'
import { GatewayError } from '../errors.ts'
import { createModels } from '../models/models.ts'
import { attemptOf, endpoint, model, newHealth, planOf } from '../../test/support/plans.ts'
import { shortness } from './filters.ts'
import { ATTEMPTS_MAX, type Plan } from './plan-attempts.ts'

const TAGS = ['a', 'b', 'c', 'd/priority', 'e/flex', 'f'] as const

const anyEndpoint = (tag: string) =>
  fc
    .record({
      prices: fc.option(fc.record({ prompt: fc.integer({ min: 0, max: 9 }), completion: fc.integer({ min: 0, max: 9 }) })),
      quantization: fc.constantFrom('unknown', 'fp8', 'int4'),
      contextLength: fc.option(fc.constantFrom(10, 100_000)),
      maxCompletionTokens: fc.option(fc.constantFrom(10, 100_000)),
      dataPolicy: fc.record({ training: fc.option(fc.boolean()), retains: fc.option(fc.boolean()) }),
      supportedParameters: fc.subarray(['tools', 'temperature', 'max_tokens']),
    })
    .map((reported) =>
      endpoint(tag, { ...reported, serviceTier: tag.endsWith('priority') ? 'priority' : tag.endsWith('flex') ? 'flex' : null }),
    )

const anyModel = (id: string) =>
  fc
    .subarray([...TAGS], { minLength: 1 })
    .chain((tags) => fc.tuple(...tags.map(anyEndpoint)))
    .map((endpoints) => model(id, endpoints))

const names = fc.subarray(['a', 'b', 'C', 'd/priority', 'F INC.', 'stranger'])

const anyProvider = fc.record(
  {
    order: names,
    only: names,
    ignore: names,
    allow_fallbacks: fc.boolean(),
    require_parameters: fc.boolean(),
    zdr: fc.boolean(),
    data_collection: fc.constantFrom('allow', 'deny'),
    quantizations: fc.subarray(['fp8', 'int4', 'unknown']),
    sort: fc.constantFrom('price', 'latency', { by: 'throughput', partition: 'none' }, { partition: 'none' }),
    preferred_max_latency: fc.constantFrom(0.1, 5),
    max_price: fc.record({ prompt: fc.integer({ min: 0, max: 9 }) }),
  },
  { requiredKeys: [] },
)

const anyFields = fc.record(
  {
    models: fc.subarray(['m/two', 'm/none', 'm/one:nitro']),
    provider: anyProvider,
    service_tier: fc.constantFrom('auto', 'priority', 'flex', 'ultrafast'),
    max_tokens: fc.constantFrom(5, 5000),
    tools: fc.constant([{ type: 'function', function: { name: 'f' } }]),
    session_id: fc.constant('s'),
  },
  { requiredKeys: [] },
)

/** The outcomes of earlier attempts at either model. */
const anyPast = fc.array(
  fc.record({
    key: fc.constantFrom(...['m/one', 'm/two'].flatMap((id) => TAGS.map((tag) => `${id} ${tag}`))),
    outcome: fc.constantFrom('ok', 'failure', 'failure', 'rate-limited'),
    times: fc.integer({ min: 1, max: 6 }),
    thenMs: fc.constantFrom(0, 1000, 40_000),
  }),
  { maxLength: 8 },
)

test('the short way for one model at one endpoint plans as the whole way does', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...TAGS).chain(anyEndpoint),
      fc.constantFrom('m/one', 'm/one:free', 'm/one:nitro', 'm/one:thinking', 'patchbay/auto', 'm/none'),
      fc.record({ max_tokens: fc.constant(5000), session_id: fc.constant('s') }, { requiredKeys: [] }),
      fc.boolean(),
      (served, name, fields, isOpen) => {
        const health = newHealth()
        if (isOpen) {
          attemptOf(health, 'm/one other', {})
          for (let time = 0; time < 5; time += 1) attemptOf(health, `m/one ${served.tag}`, { outcome: 'failure' })
        }
        const planned = (more: Record<string, unknown>): unknown => {
          try {
            return planOf([served], { ...fields, ...more, model: name }, { health })
          } catch (thrown) {
            if (thrown instanceof GatewayError) return [thrown.message, thrown.metadata, thrown.retryAfterSeconds]
            throw thrown
          }
        }
        // A field of routing, even one that asks for nothing, leaves the short way.
        expect(planned({})).toEqual(planned({ route: 'fallback' }))
      },
    ),
    { numRuns: 300 },
  )
})

test('every candidate is either left out with a reason or kept; what is tried is kept, fits, stands once; a seed decides all', () => {
  fc.assert(
    fc.property(anyModel('m/one'), anyModel('m/two'), anyFields, anyPast, fc.integer(), (one, two, fields, past, seed) => {
      const models = createModels([one, two], [])
      const clock = createFakeClock()
      const health = newHealth(clock)
      for (const { key, outcome, times, thenMs } of past) {
        for (let time = 0; time < times; time += 1) attemptOf(health, key, { outcome, firstTokenMs: 100 * times })
        clock.advance(thenMs)
      }
      const sticky = seed % 2 === 0 ? null : () => 'm/one b'
      const planned = (): Plan | GatewayError => {
        try {
          return planOf(models, fields, { health, random: seeded(seed), sticky })
        } catch (thrown) {
          if (thrown instanceof GatewayError) return thrown
          throw thrown
        }
      }
      const plan = planned()
      expect(planned()).toEqual(plan)
      const asked = fields.models?.includes('m/two') === true ? [one, two] : [one]
      const candidates = asked.flatMap(({ id, endpoints }) => endpoints.map(({ tag }) => `${id} ${tag}`))
      const removed = plan instanceof GatewayError ? (plan.metadata['excluded_by'] as Plan['removed']) : plan.removed
      const left = removed.filter(({ provider }) => provider !== '*').map(({ model, provider }) => `${model} ${provider}`)
      expect(removed.every(({ reason }) => reason !== '')).toBe(true)
      expect(new Set(left).size).toBe(left.length)
      for (const key of left) expect(candidates).toContain(key)
      if (plan instanceof GatewayError) {
        expect([plan.status, left.toSorted()]).toEqual([503, candidates.toSorted()])
        return
      }
      expect(plan.candidates + left.length).toBe(candidates.length)
      const tried = plan.attempts.map(({ key }) => key)
      expect(tried.length).toBeGreaterThan(0)
      expect(tried.length).toBeLessThanOrEqual(
        fields.provider?.allow_fallbacks === false && !(fields.provider.order?.length ?? 0) ? 1 : ATTEMPTS_MAX,
      )
      expect(new Set(tried).size).toBe(tried.length)
      for (const { key, endpoint } of plan.attempts) {
        expect(candidates).toContain(key)
        expect(left).not.toContain(key)
        expect(health.of(key).breaker).not.toBe('open')
        if (fields.provider?.zdr === true) expect(endpoint.dataPolicy.retains).toBe(false)
        // An endpoint that gives less output is asked only if no endpoint of the model gives enough.
        const short = shortness(endpoint, { maxOutputTokens: fields.max_tokens ?? null }) !== null
        const others = plan.attempts.filter(({ model }) => key.startsWith(`${model.id} `))
        if (short)
          expect(others.every((other) => shortness(other.endpoint, { maxOutputTokens: fields.max_tokens ?? null }) !== null)).toBe(true)
      }
    }),
    { numRuns: 500 },
  )
})
