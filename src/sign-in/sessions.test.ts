/** How long a session lasts (docs/contract/sign-in.md#end-of-a-session). What ends one otherwise is in test/acceptance/sessions.test.ts. */
import { expect, test } from 'bun:test'

import { changedBy } from '../../test/support/changed-by.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import { openSqliteDatabase } from '../../test/support/sqlite-database.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { createSessionStore, type SessionStore } from '../storage/workspaces/session-store.ts'
import { createLoginLinks } from './login-links.ts'
import { createSessions } from './sessions.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const { database, owner } = await openSqliteDatabase()
const ids = createFakeIds()

/** A new session of the owner, and whether its two halves count now; `prolonged` has when a use of it was stored, in minutes. */
const open = async () => {
  const clock = createFakeClock()
  const prolonged: number[] = []
  const stored = createSessionStore(database)
  const store: SessionStore = {
    ...stored,
    prolong(id, usedAt, expiresAt) {
      prolonged.push(clock.monotonicMs() / MINUTE_MS)
      return stored.prolong(id, usedAt, expiresAt)
    },
  }
  const pepper = { id: 'first', bytes: new Uint8Array(32) }
  const onError = (thrown: unknown): never => {
    throw thrown
  }
  const parts = { store, clock, ids, peppers: () => [pepper] as const, onError }
  const sessions = createSessions({ ...parts, keys: { authenticate: () => null } })
  const wanted = { ...owner, role: 'admin', expiresInSeconds: 60 } as const
  const { token: link } = await createLoginLinks(parts).make(wanted, changedBy())
  const { session, token, csrf } = await sessions.openByLink(link, { requestId: changedBy().requestId, userAgent: null })
  return { clock, prolonged, counts: async () => (await sessions.authenticate(token, csrf)) !== null, sessions, id: session.id }
}

test('a session ends twelve hours after its last use, to the millisecond', async () => {
  const { clock, counts, sessions, id } = await open()
  clock.advance(12 * HOUR_MS - 1)
  expect(await counts()).toBe(true)
  clock.advance(12 * HOUR_MS - 1)
  expect(await sessions.isInForce(id)).toBe(true)
  clock.advance(1)
  expect([await sessions.isInForce(id), await counts()]).toEqual([false, false])
})

test('a session ends after seven days, however it is used', async () => {
  const { clock, counts } = await open()
  for (let hour = 0; hour < 7 * 24 - 1; hour += 1) {
    clock.advance(HOUR_MS)
    expect(await counts()).toBe(true)
  }
  clock.advance(HOUR_MS - 1)
  expect(await counts()).toBe(true)
  clock.advance(1)
  expect(await counts()).toBe(false)
})

test('the use of a session is stored once a minute at most', async () => {
  const { clock, counts, prolonged } = await open()
  for (let time = 0; time < 5; time += 1) {
    clock.advance(MINUTE_MS / 2)
    await counts()
  }
  expect(prolonged).toEqual([1, 2])
})

test('a session reads itself, however many were opened after it', async () => {
  const { clock, sessions, id } = await open()
  const person = { kind: 'admin', ...owner, sessionId: id } as const
  const current = await sessions.current(person)
  clock.advance(MINUTE_MS)
  const stored = createSessionStore(database)
  for (let number = 0; number < 101; number += 1) {
    const digests = { digest: `later ${number}`, csrf_digest: `later ${number}` }
    await stored.insert({ ...current, ...digests, id: `later-${number}`, created_at: isoTimestamp(clock.now()) }, changedBy())
  }
  expect(await sessions.current(person)).toEqual(current)
})
