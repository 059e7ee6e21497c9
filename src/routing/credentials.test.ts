import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createCredentials } from './credentials.ts'
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

test('a refused key is set aside for ten minutes, with an alarm that names its place and not the key', () => {
  const { clock, pick, credentials, alarms } = begin()
  credentials.report(acme, pick(), 'refused', null)
  expect([pick().apiKey, alarms]).toEqual(['two', ['acme 0']])
  clock.advance(600_000)
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
    credentials.report(acme, { apiKey: acme.apiKeys[index] ?? null, index, isByok: false }, 'limited', seconds)
  expect(pick().apiKey).toBe('two')
})

test('a key that has failed in this request is not tried in it again; without another there is none', () => {
  const { pick, credentials } = begin()
  expect(pick(new Set([0])).apiKey).toBe('two')
  expect(credentials.pick(acme, new Set([0, 1, 2]))).toBeNull()
})

test('a provider that wants no key has one way in', () => {
  const { credentials } = begin()
  expect(credentials.pick(provider(), NONE)).toEqual({ apiKey: null, index: 0, isByok: false })
  expect(credentials.pick(provider(), new Set([0]))).toBeNull()
})

test('no provider puts a key to rest for longer than ten minutes by what it names', () => {
  const { clock, pick, credentials } = begin()
  credentials.report(acme, pick(), 'limited', 1_000_000)
  clock.advance(600_000)
  expect(pick().apiKey).toBe('one')
})
