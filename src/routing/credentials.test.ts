import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createCredentials } from './credentials.ts'
import { NEWS_MAX, readNews } from './node-news.ts'
import type { Provider } from '../models/model.ts'

const provider = (...apiKeys: string[]): Provider => ({
  slug: 'acme',
  name: 'Acme',
  dialects: ['openai-chat'],
  baseUrl: 'https://acme.example',
  apiKeys,
  anyModel: false,
})
const acme = provider('one', 'two', 'three')
const NONE: ReadonlySet<number> = new Set()

const begin = () => {
  const clock = createFakeClock()
  const alarms: string[] = []
  const credentials = createCredentials({ clock, onRefused: (slug, index) => alarms.push(`${slug} ${index}`) })
  const pick = (skip = NONE) => {
    const credential = credentials.pick(acme, skip)
    if (credential === null) throw new Error('No key is left.')
    return credential
  }
  return { clock, alarms, credentials, pick }
}

test('the first key is used for as long as it works', () => {
  const { pick } = begin()
  expect([pick().apiKey, pick().apiKey]).toEqual(['one', 'one'])
})

test('a limited key cools for as long as its provider says, without an alarm', () => {
  const { clock, pick, credentials, alarms } = begin()
  credentials.report(acme, pick(), 'limited', 30)
  expect(pick().apiKey).toBe('two')
  clock.advance(29_999)
  expect(pick().apiKey).toBe('two')
  clock.advance(1)
  expect(pick().apiKey).toBe('one')
  expect(alarms).toEqual([])
})

test('a limited key whose provider names no time cools for five seconds', () => {
  const { clock, pick, credentials } = begin()
  credentials.report(acme, pick(), 'limited', null)
  clock.advance(4999)
  expect(pick().apiKey).toBe('two')
  clock.advance(1)
  expect(pick()).toEqual({ apiKey: 'one', index: 0, isByok: false, rests: false })
})

test('each request looks at no key behind the first that is free: a name that hides a key is a digest, and a provider may have many', () => {
  const clock = createFakeClock()
  let looks = 0
  const counted = {
    ...clock,
    monotonicMs() {
      looks += 1
      return clock.monotonicMs()
    },
  }
  const credentials = createCredentials({ clock: counted, onRefused: () => undefined })
  const other = begin()
  other.credentials.report(acme, other.pick(), 'limited', 30)
  credentials.hear(other.credentials.found())
  looks = 0
  const many = provider('one', ...Array.from({ length: 100 }, (_, at) => `key ${at}`))
  expect(credentials.pick(many, NONE)?.apiKey).toBe('key 0')
  expect(looks).toBeLessThan(5)
})

test('a key that rests on another node is used again here once that rest is over', () => {
  const { clock, pick, credentials } = begin()
  const other = begin()
  other.credentials.report(acme, other.pick(), 'limited', 30)
  credentials.hear(other.credentials.found())
  expect(pick().apiKey).toBe('two')
  clock.advance(30_000)
  expect(pick().apiKey).toBe('one')
})

test('no more keys are reported than another node reads, however many rest', () => {
  const { credentials } = begin()
  const many = provider(...Array.from({ length: NEWS_MAX + 1 }, (_, at) => `key ${at}`))
  for (const [index, apiKey] of many.apiKeys.entries()) credentials.report(many, { apiKey, index }, 'limited', 30)
  const report = JSON.stringify({ endpoints: [], credentials: credentials.found() })
  expect(readNews(report, 0).credentials).toHaveLength(NEWS_MAX)
})

test('a key that is picked says if it is known to rest', () => {
  const { pick, credentials } = begin()
  const rests = [pick().rests]
  for (const [index, apiKey] of acme.apiKeys.entries()) credentials.report(acme, { apiKey, index }, 'limited', 30)
  expect([...rests, pick().rests]).toEqual([false, true])
})

test('the state of a key shows when it was refused and until when it rests, and of the key no more than the end of a long one', () => {
  const { clock, credentials } = begin()
  const named = provider('a-key-of-15-cha', 'a-key-of-16-char')
  clock.advance(1000)
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString()
  const [first, second] = named.apiKeys.map((apiKey, index) => ({ apiKey, index, isByok: false }))
  if (first === undefined || second === undefined) throw new Error('no keys')
  credentials.report(named, first, 'refused', null)
  credentials.report(named, second, 'limited', 30)
  expect(credentials.states(named)).toEqual([
    { label: '…', refusedAt: at(0), restsUntil: at(600_000) },
    { label: '…char', refusedAt: null, restsUntil: at(30_000) },
  ])
  clock.advance(600_000)
  expect(credentials.states(named)).toMatchObject([
    { refusedAt: null, restsUntil: null },
    { refusedAt: null, restsUntil: null },
  ])
  credentials.report(named, first, 'limited', 30)
  expect(credentials.states(named)[0]?.refusedAt).toBeNull()
})

test('other nodes are told which keys rest and for how long, and hear the longest rest of each until they hear another', () => {
  const { clock, pick, credentials } = begin()
  clock.advance(1000)
  credentials.report(acme, pick(), 'limited', 30)
  credentials.report(acme, pick(), 'limited', 10)
  clock.advance(10_000)
  const found = credentials.found()
  expect(found).toEqual([{ name: expect.stringMatching(/^[0-9a-f]{12}$/), restMs: 20_000 }])
  const other = begin()
  other.credentials.hear([...found, ...found.map((each) => ({ ...each, restMs: 5000 }))])
  other.clock.advance(19_999)
  expect(other.pick().apiKey).toBe('two')
  other.credentials.hear([])
  expect(other.pick().apiKey).toBe('one')
})

test('a refused key is set aside for ten minutes, with an alarm that names its place and not the key', () => {
  const { clock, pick, credentials, alarms } = begin()
  credentials.report(acme, pick(), 'refused', null)
  expect([pick().apiKey, alarms]).toEqual(['two', ['acme 0']])
  clock.advance(599_999)
  expect(pick().apiKey).toBe('two')
  clock.advance(1)
  expect(pick().apiKey).toBe('one')
})

test('a single key that is refused is tried on, and its alarm is not repeated before it has rested', () => {
  const { clock, credentials, alarms } = begin()
  const single = provider('only')
  const report = (): void => {
    const credential = credentials.pick(single, NONE)
    if (credential !== null) credentials.report(single, credential, 'refused', null)
  }
  for (let request = 0; request < 5; request += 1) report()
  expect(alarms).toEqual(['acme 0'])
  clock.advance(600_000)
  report()
  expect(alarms).toHaveLength(2)
})

test('where every key rests, the one that is due first is tried', () => {
  const { pick, credentials } = begin()
  for (const [index, seconds] of [60, 20, 40].entries())
    credentials.report(acme, { apiKey: acme.apiKeys[index] ?? null, index }, 'limited', seconds)
  expect(pick().apiKey).toBe('two')
})

test('a key that has failed in this request is not tried in it again; without another there is none', () => {
  const { pick, credentials } = begin()
  expect(pick(new Set([0])).apiKey).toBe('two')
  expect(credentials.pick(acme, new Set([0, 1, 2]))).toBeNull()
})

test('a provider that wants no key has one way in', () => {
  const { credentials } = begin()
  expect(credentials.pick(provider(), NONE)).toEqual({ apiKey: null, index: 0, isByok: false, rests: false })
  expect(credentials.pick(provider(), new Set([0]))).toBeNull()
})

test('no provider puts a key to rest for longer than ten minutes by what it names', () => {
  const { clock, pick, credentials } = begin()
  credentials.report(acme, pick(), 'limited', 1_000_000)
  clock.advance(600_000)
  expect(pick().apiKey).toBe('one')
})
