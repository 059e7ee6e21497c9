import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { growth, LINEAR } from '../../test/support/growth.ts'
import { attemptOf, newHealth } from '../../test/support/plans.ts'
import { createCredentials } from './credentials.ts'
import { createHealth, type Health } from './health.ts'
import { NEWS_MAX, readNews } from './node-news.ts'

const HOUR_MS = 60 * 60 * 1000

const newsOf = (health: Health) => readNews(JSON.stringify({ endpoints: health.found(), credentials: [] }), 0).endpoints

/** A node that knows two endpoints of a model, of which the first failed until its breaker opened. */
const failed = (clock = createFakeClock()): Health => {
  const health = newHealth(clock)
  attemptOf(health, 'm b', {})
  for (let time = 0; time < 5; time += 1) attemptOf(health, 'm a', { outcome: 'failure' })
  return health
}

describe('an endpoint that another node found to be down', () => {
  test('is left alone here too, for as long as it is there, where the model has another endpoint that works', () => {
    const clock = createFakeClock()
    clock.advance(HOUR_MS)
    const other = failed(clock)
    const health = newHealth(clock)
    attemptOf(health, 'm a', {})
    attemptOf(health, 'm b', {})
    health.hear(newsOf(other))
    health.hear(newsOf(other))
    expect([health.of('m a').breaker, health.of('m a').retryAfterSeconds, health.begin('m a', 'a')]).toEqual(['open', 30, false])
    expect(health.of('m b').breaker).toBe('closed')
    clock.advance(30_000)
    expect(health.begin('m a', 'a')).toBe(true)
  })

  test('is left alone until the last of the nodes that found it would take it again', () => {
    const found = newsOf(failed())
    const sooner = found.map((each) => ({ ...each, openMs: 5000 }))
    for (const heard of [
      [...found, ...sooner],
      [...sooner, ...found],
    ]) {
      const health = newHealth()
      for (const key of ['m a', 'm b']) attemptOf(health, key, {})
      health.hear(heard)
      expect(health.of('m a').retryAfterSeconds).toBe(30)
    }
  })

  test('is tried last, and not left alone, where nothing else is known to work', () => {
    const clock = createFakeClock()
    const health = newHealth(clock)
    health.hear(newsOf(failed()))
    expect([health.of('m a').breaker, health.of('m a').troubled]).toEqual(['closed', true])
    clock.advance(30_000)
    expect(health.of('m a').troubled).toBe(false)
  })

  test('is asked as ever where it fails on purpose', () => {
    const health = createHealth({ clock: createFakeClock(), inFlightMax: () => 9, neverEjected: new Set(['a']) })
    for (const key of ['m a', 'm b']) attemptOf(health, key, {})
    health.hear(newsOf(failed()).map((each) => ({ ...each, coolingMs: 5000 })))
    expect(health.of('m a')).toMatchObject({ breaker: 'closed', troubled: false, cooling: false })
  })

  test('is taken again as soon as the others take it again', () => {
    const health = newHealth()
    attemptOf(health, 'm a', {})
    attemptOf(health, 'm b', {})
    health.hear(newsOf(failed()))
    health.hear([])
    expect([health.of('m a').breaker, health.of('m a').troubled]).toEqual(['closed', false])
  })

  test('is not told on by who only heard of it: what nobody finds any more is forgotten', () => {
    const health = newHealth()
    attemptOf(health, 'm b', {})
    health.hear(newsOf(failed()))
    expect(health.found()).toEqual([])
  })
})

test('a cooldown that another node was asked for holds here too, the longest of them', () => {
  const clock = createFakeClock()
  clock.advance(HOUR_MS)
  const nodes = [7, 20].map((retryAfterSeconds) => {
    const health = newHealth(clock)
    attemptOf(health, 'm a', { outcome: 'rate-limited', retryAfterSeconds })
    return newsOf(health)
  })
  const health = newHealth(clock)
  for (const heard of [nodes, nodes.toReversed()]) {
    health.hear(heard.flat())
    expect([health.of('m a').cooling, health.of('m a').retryAfterSeconds]).toEqual([true, 20])
  }
  clock.advance(20_000)
  expect(health.of('m a').cooling).toBe(false)
})

test('a key of ours that a provider refuses is set aside on all nodes, without its text leaving one, and the alarm is one', () => {
  const clock = createFakeClock()
  const alarms: string[] = []
  const make = () => createCredentials({ clock, onRefused: (slug, index) => alarms.push(`${slug} ${index}`) })
  const [one, other] = [make(), make()]
  const provider = {
    slug: 'acme',
    name: 'Acme',
    dialects: ['openai-chat'],
    baseUrl: 'https://acme.example',
    apiKeys: ['first-key', 'second-key'],
    anyModel: false,
  } as const
  const credential = one.pick(provider, new Set())
  if (credential === null) throw new Error('no key')
  one.report(provider, credential, 'refused', null)
  const text = JSON.stringify({ endpoints: [], credentials: one.found() })
  expect(text).not.toContain('first-key')
  other.hear(readNews(text, 1000).credentials)
  expect(other.pick(provider, new Set())?.index).toBe(1)
  other.report(provider, credential, 'refused', null)
  expect(alarms).toEqual(['acme 0'])
  clock.advance(10 * 60 * 1000)
  expect(other.pick(provider, new Set())?.index).toBe(0)
})

test('news are bounded, and grow old on their way', () => {
  const health = newHealth()
  for (let model = 0; model < NEWS_MAX + 50; model += 1)
    attemptOf(health, `m${model} a`, { outcome: 'rate-limited', retryAfterSeconds: 60 })
  expect(newsOf(health)).toHaveLength(NEWS_MAX)
  const text = JSON.stringify({ endpoints: health.found(), credentials: [] })
  expect(readNews(text, 45_000).endpoints[0]?.coolingMs).toBe(15_000)
  expect(readNews(text, 90_000).endpoints[0]?.coolingMs).toBe(0)
})

/** Reports about that many models. */
const troubles = (models: number) =>
  Array.from({ length: models }, (_, model) => ({ key: `m${model} a`, provider: 'a', openMs: 30_000, coolingMs: 30_000 }))

test('of all the endpoints that other nodes report, the first thousand count, each by its longest report', () => {
  const health = newHealth()
  health.hear([...troubles(3000), ...troubles(1).map((each) => ({ ...each, coolingMs: 60_000 }))])
  expect(['m0 a', 'm999 a', 'm1000 a'].map((key) => health.of(key).retryAfterSeconds)).toEqual([60, 30, null])
})

test('news are heard every second: the work grows with their number, and not with its square', () => {
  expect(
    growth((models) => {
      const health = newHealth()
      const news = troubles(models)
      return () => {
        for (let time = 0; time < 10; time += 1) health.hear(news)
      }
    }, 250),
  ).toBeLessThan(LINEAR)
})

test('whatever stands on the board of another node, nothing fails', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.json(), fc.constant('{"endpoints":[{"key":"m a"}],"credentials":[]}')),
      fc.nat(10_000),
      (text, ageMs) => {
        const { endpoints, credentials } = readNews(text, ageMs)
        newHealth().hear(endpoints)
        expect(credentials).toEqual([])
      },
    ),
  )
})
