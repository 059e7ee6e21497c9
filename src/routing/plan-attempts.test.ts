import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Call } from '../canonical/call.ts'
import { GatewayError } from '../errors.ts'
import { chatFormat } from '../formats/openai-chat/openai-chat.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { createModels, plainEndpoint, type Models } from '../models/models.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createHealth } from './health.ts'
import { ATTEMPTS_MAX, planAttempts, type Plan } from './plan-attempts.ts'
import type { Model, Provider } from '../models/model.ts'
import { atOnce } from '../lib/steps.ts'

const provider = (slug: string): Provider => ({
  slug,
  name: `${slug.toUpperCase()} Inc.`,
  dialects: ['openai-chat'],
  baseUrl: `https://${slug}.example/v1`,
  apiKeys: [],
  anyModel: false,
})

const model = (id: string, slugs: string): Model => ({
  id,
  name: id,
  created: 0,
  contextLength: null,
  inputModalities: ['text'],
  outputModalities: ['text'],
  supportedParameters: [],
  endpoints: [...slugs].map((slug) => plainEndpoint(provider(slug), `${slug}-${id}`)),
})

const models = createModels([model('m/one', 'abc'), model('m/two', 'cd'), model('m/six', 'abcdef')], [])

const callOf = (fields: Record<string, unknown>): Call =>
  atOnce(chatFormat.parseCall(JsonBody.read(JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...fields })))).call

const health = createHealth({ clock: createFakeClock(), inFlightMax: () => 100, neverEjected: new Set() })

const plan = (fields: Record<string, unknown>, among: Models = models): Plan =>
  planAttempts({ call: callOf(fields), models: among, health, account: 'w', sticky: null, random: () => 0 })

const attempts = (fields: Record<string, unknown>): string =>
  plan(fields)
    .attempts.map(({ model, endpoint }) => `${model.id.slice(2)}@${endpoint.provider.slug}`)
    .join(' ')

const refusal = (fields: Record<string, unknown>): GatewayError => {
  try {
    plan(fields)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('planned')
}

describe('who is asked, in which order', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['all who serve it, as listed', { model: 'm/one' }, 'one@a one@b one@c'],
    [
      'a fallback model has its turn, however many serve the first',
      { model: 'm/six', models: ['m/two', 'm/one'] },
      'six@a six@b two@c one@a',
    ],
    ['never more than four', { model: 'm/six' }, 'six@a six@b six@c six@d'],
    ['one model after the other', { model: 'm/one', models: ['m/two'] }, 'one@a one@b one@c two@c'],
    ['an unknown model in a list is passed over', { model: 'm/none', models: ['m/two'] }, 'two@c two@d'],
    ['an unknown model at the end of a list too', { model: 'm/two', models: ['m/none'] }, 'two@c two@d'],
    ['the same model once', { model: 'm/two', models: ['m/two'] }, 'two@c two@d'],
    ['a list alone', { models: ['m/two', 'm/one'] }, 'two@c two@d one@a one@b'],
    ['only', { model: 'm/one', provider: { only: ['c', 'a'] } }, 'one@a one@c'],
    ['ignore', { model: 'm/one', provider: { ignore: ['a'] } }, 'one@b one@c'],
    ['only and ignore', { model: 'm/one', provider: { only: ['a', 'b'], ignore: ['a'] } }, 'one@b'],
    ['order first, the others behind it as listed', { model: 'm/one', provider: { order: ['c'] } }, 'one@c one@a one@b'],
    ['order of all', { model: 'm/one', provider: { order: ['c', 'b', 'a'] } }, 'one@c one@b one@a'],
    ['order that names strangers', { model: 'm/one', provider: { order: ['x', 'b'] } }, 'one@b one@a one@c'],
    ['order within each model', { model: 'm/one', models: ['m/two'], provider: { order: ['d', 'c'] } }, 'one@c one@a one@b two@d'],
    ['no fallbacks: the first alone', { model: 'm/one', provider: { allow_fallbacks: false } }, 'one@a'],
    ['no fallbacks: those of the order alone', { model: 'm/one', provider: { order: ['c', 'a'], allow_fallbacks: false } }, 'one@c one@a'],
    ['no fallbacks: an order that names strangers', { model: 'm/one', provider: { order: ['x', 'b'], allow_fallbacks: false } }, 'one@b'],
    [
      'no fallbacks: an order holds for each model',
      { model: 'm/one', models: ['m/two'], provider: { order: ['c'], allow_fallbacks: false } },
      'one@c two@c',
    ],
    ['no fallbacks and only', { model: 'm/one', provider: { only: ['b', 'c'], allow_fallbacks: false } }, 'one@b'],
    ['by slug in any case', { model: 'm/one', provider: { only: ['B'] } }, 'one@b'],
    ['by display name in any case', { model: 'm/one', provider: { only: ['b inc.'] } }, 'one@b'],
    [
      'nulls and empty lists ask for nothing',
      { model: 'm/two', provider: { only: null, ignore: null, order: null, allow_fallbacks: null } },
      'two@c two@d',
    ],
    ['empty lists too', { model: 'm/two', provider: { only: [], ignore: [], order: [] } }, 'two@c two@d'],
    ['no preferences', { model: 'm/two', provider: null }, 'two@c two@d'],
  ])('%s', (_, fields, expected) => {
    expect(attempts(fields)).toBe(expected)
  })

  test('candidates are counted beyond the four that are tried, and the removed ones are named', () => {
    expect(plan({ model: 'm/six' })).toMatchObject({ candidates: 6, removed: [] })
    expect(plan({ model: 'm/one', provider: { ignore: ['a'] } })).toMatchObject({
      candidates: 2,
      removed: [{ model: 'm/one', provider: 'a', reason: 'provider.ignore' }],
    })
  })
})

describe('404 not_found: no model that is known', () => {
  test('names it and the nearest known ones', () => {
    const { type, status, message } = refusal({ model: 'm/oen' })
    expect([type, status]).toEqual(['not_found', 404])
    expect(message).toStartWith('The model "m/oen" does not exist here')
    expect(message).toContain('Did you mean m/one')
  })

  test('says of a near one that is not enabled what would enable it', () => {
    const dormant = new Map([
      ['openai/gpt-5', ['OPENAI_API_KEY']],
      ['acme/gpt-5', ['ACME_API_KEY', 'OTHER_API_KEY']],
    ])
    expect(() => plan({ model: 'x/gpt-5' }, createModels([model('m/gpt-5', 'a')], [], dormant))).toThrow(
      'Did you mean m/gpt-5, openai/gpt-5 (set OPENAI_API_KEY), acme/gpt-5 (set ACME_API_KEY or OTHER_API_KEY)?',
    )
  })

  test('names each of a list, once', () => {
    const { type, status, message } = refusal({ model: 'm/oen', models: ['m/towo', 'm/oen'] })
    expect([type, status]).toEqual(['not_found', 404])
    expect(message).toMatch(/^The model "m\/oen" .* m\/one.*\? The model "m\/towo" .* m\/two.*\?$/)
  })

  test('says where to look when nothing is near', () => {
    expect(refusal({ model: 'x'.repeat(40) }).message).toEndWith('GET /api/v1/models lists what there is.')
  })
})

describe('503: nobody is left', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['only', { model: 'm/two', provider: { only: ['a'] } }, 'c for m/two (provider.only), d for m/two (provider.only)'],
    ['ignore', { model: 'm/two', provider: { ignore: ['c', 'D'] } }, 'c for m/two (provider.ignore), d for m/two (provider.ignore)'],
    [
      'order without fallbacks',
      { model: 'm/two', provider: { order: ['a'], allow_fallbacks: false } },
      'c for m/two (provider.order without fallbacks), d for m/two (provider.order without fallbacks)',
    ],
    [
      'each by another filter',
      { model: 'm/two', provider: { only: ['c'], ignore: ['c'] } },
      'c for m/two (provider.ignore), d for m/two (provider.only)',
    ],
    [
      'a list with an unknown model',
      { models: ['m/x', 'm/two'], provider: { only: ['a'] } },
      '* for m/x (unknown model), c for m/two (provider.only), d for m/two (provider.only)',
    ],
  ])('%s: the message and the metadata say which filter removed whom', (_, fields, why) => {
    const { type, status, message, metadata } = refusal(fields)
    expect([type, status]).toEqual(['provider_overloaded', 503])
    expect(message).toEndWith(`Removed: ${why}.`)
    const excluded = metadata['excluded_by'] as { model: string; provider: string; reason: string }[]
    expect(excluded.map(({ model, provider, reason }) => `${provider} for ${model} (${reason})`).join(', ')).toBe(why)
  })
})

test('a hostile name is repeated neither in the message nor in the metadata', () => {
  const long = 'x'.repeat(1_000_000)
  for (const fields of [{ model: long }, { models: [`${long}1`, `${long}2`] }]) {
    const error = refusal(fields)
    expect(error.message.length + JSON.stringify(error.metadata).length).toBeLessThan(3000)
  }
})

test('whatever is asked for: every attempt serves the model, meets every filter, and stands once', () => {
  const slugs = fc.subarray(['a', 'b', 'c', 'd', 'e', 'f', 'x'])
  const shuffled = fc.shuffledSubarray(['a', 'b', 'c', 'd', 'e', 'f', 'x'])
  fc.assert(
    fc.property(
      fc.shuffledSubarray(['m/one', 'm/two', 'm/six', 'm/none'], { minLength: 1 }),
      fc.record({ only: slugs, ignore: slugs, order: shuffled, allow_fallbacks: fc.boolean() }),
      (names, preferences) => {
        let planned: Plan
        try {
          planned = plan({ models: names, provider: preferences })
        } catch (thrown) {
          expect([404, 503]).toContain((thrown as GatewayError).status)
          return
        }
        const tried = planned.attempts.map(({ model, endpoint }) => {
          const slug = endpoint.provider.slug
          expect(names).toContain(model.id)
          expect(model.endpoints).toContain(endpoint)
          expect(preferences.ignore).not.toContain(slug)
          if (preferences.only.length > 0) expect(preferences.only).toContain(slug)
          if (!preferences.allow_fallbacks && preferences.order.length > 0) expect(preferences.order).toContain(slug)
          return `${model.id} ${slug}`
        })
        expect(new Set(tried).size).toBe(tried.length)
        expect(tried.length).toBeGreaterThan(0)
        expect(tried.length).toBeLessThanOrEqual(ATTEMPTS_MAX)
        if (preferences.allow_fallbacks) expect(tried.length).toBe(Math.min(ATTEMPTS_MAX, planned.candidates))
      },
    ),
  )
})
