import { expect, test } from 'bun:test'

import { createFakeClock, T0 } from '../../test/support/fake-clock.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import type { OauthCodeRecord, OauthCodeStore } from '../storage/workspaces/oauth-code-store.ts'
import { createApplicationCodes } from './application-codes.ts'

const TEN_MINUTES_MS = 600_000

const open = (store: OauthCodeStore = storeOfOne()) => {
  const clock = createFakeClock()
  const codes = createApplicationCodes({
    store,
    keys: {
      payer: () => Promise.reject(new Error('a key is asked for')),
      create: () => Promise.reject(new Error('a key is made')),
      revoke: () => Promise.reject(new Error('a key is taken back')),
      list: () => Promise.reject(new Error('keys are listed')),
      isKeptOut: () => Promise.reject(new Error('a person is asked for')),
    },
    sessions: { isInForce: async () => true },
    clock,
    ids: systemIds,
    peppers: () => [{ id: 'p', bytes: new Uint8Array(32) }],
  })
  const make = (expires_at: string | null = null) =>
    codes.make(
      { callback_url: 'https://app.example.com/', code_challenge: 'the very words', code_challenge_method: 'plain', expires_at },
      { workspaceId: 'w', userId: 'ada', by: { sessionId: 'sess' }, isMember: false },
    )
  return { clock, codes, make }
}

test.each([
  [TEN_MINUTES_MS - 1, 'a key is made'],
  [TEN_MINUTES_MS, '403 Authorization code expired'],
])('%i ms after its making, a code is exchanged: %s', async (afterMs, expected) => {
  const { clock, codes, make } = open()
  const { code } = await make()
  clock.advance(afterMs)
  const exchanged = codes.exchange({ code, verifier: 'the very words', method: 'plain', requestId: 'r' })
  expect(await exchanged.catch(wordsOf)).toEqual(expected)
})

test.each(['{"name":', '{}', 'null', '{"name":"n","limitNanos":"5","limitReset":null,"expiresAt":null}'])(
  'a damaged code is reported by its row, and makes no key: %s',
  async (key_settings) => {
    let id = ''
    const stored = storeOfOne()
    const insert = (record: OauthCodeRecord): Promise<void> => {
      id = record.id
      return stored.insert({ ...record, key_settings })
    }
    const { codes, make } = open({ ...stored, insert })
    const { code } = await make()
    const exchanged = codes.exchange({ code, verifier: 'the very words', method: 'plain', requestId: 'r' })
    expect(await exchanged.catch(wordsOf)).toContain(`The row "${id}" of the table oauth_codes cannot be read.`)
  },
)

test('no code is made for a key that would have expired already', async () => {
  const { make } = open()
  expect(await make(isoTimestamp(T0)).catch(wordsOf)).toBe('400 expires_at: The time has passed. Use a later one.')
  expect(await make(isoTimestamp(T0 + 1))).toMatchObject({ code: expect.any(String) })
})

const wordsOf = (thrown: Error): string => (thrown instanceof GatewayError ? `${thrown.status} ${thrown.message}` : thrown.message)

/** Holds the most recently made code. */
const storeOfOne = (): OauthCodeStore => {
  let held: OauthCodeRecord | null = null
  return {
    insert: async (code) => {
      held = code
    },
    find: async (digests) => (held !== null && digests.includes(held.digest) ? held : null),
    claim: async () => true,
    settle: async () => true,
    replayed: async () => null,
    deleteExpired: async () => 0,
  }
}

test.each<[number | null, 'daily' | 'weekly' | 'monthly' | null, number, string]>([
  [null, null, 5, 'monthly'],
  [4, 'monthly', 4, 'monthly'],
  [5, 'monthly', 5, 'monthly'],
  [6, 'monthly', 5, 'monthly'],
  [6, null, 5, 'monthly'],
  [4, 'daily', 4, 'monthly'],
  [4, 'weekly', 4, 'monthly'],
])('a member’s application that asks for %p dollars (%p) may spend %p (%s)', async (limit, usage_limit_type, dollars, interval) => {
  const settings: unknown[] = []
  const codes = createApplicationCodes({
    store: { ...storeOfOne(), insert: async ({ key_settings }) => void settings.push(JSON.parse(key_settings)) },
    keys: {
      payer: () => Promise.reject(new Error('a key is asked for')),
      create: () => Promise.reject(new Error('a key is made')),
      revoke: () => Promise.reject(new Error('a key is taken back')),
      list: async () => ({ items: [], next: null }),
      isKeptOut: async () => false,
    },
    sessions: { isInForce: async () => true },
    clock: createFakeClock(),
    ids: systemIds,
    peppers: () => [{ id: 'p', bytes: new Uint8Array(32) }],
  })
  const asked = { callback_url: 'https://app.example.com/', limit, usage_limit_type }
  await codes.make(asked, { workspaceId: 'w', userId: 'ada', by: { sessionId: 'sess' }, isMember: true })
  expect(settings).toMatchObject([{ limitNanos: dollars * 1e9, limitReset: interval }])
})
