/** How long a session lasts (docs/contract/sign-in.md#end-of-a-session). What ends one otherwise is in test/acceptance/sessions.test.ts. */
import { expect, test } from 'bun:test'

import { changedBy } from '../../test/support/changed-by.ts'
import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
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
  const faults: unknown[] = []
  const storage = { isAway: false, looks: 0 }
  const stored = createSessionStore(database)
  const store: SessionStore = {
    ...stored,
    async prolong(id, usedAt, expiresAt) {
      if (storage.isAway) throw new Error('It takes no writes.')
      prolonged.push(clock.monotonicMs() / MINUTE_MS)
      await stored.prolong(id, usedAt, expiresAt)
    },
    async live(watched, now) {
      storage.looks += 1
      if (storage.isAway) throw new Error('It cannot be asked.')
      return stored.live(watched, now)
    },
  }
  const pepper = { id: 'first', bytes: new Uint8Array(32) }
  const onError = (thrown: unknown): void => void faults.push(thrown)
  const parts = { store, clock, ids, peppers: () => [pepper] as const, onError }
  const sessions = createSessions({ ...parts, keys: { authenticate: () => null } })
  const wanted = { ...owner, role: 'admin', expiresInSeconds: 60 } as const
  const { token: link } = await createLoginLinks(parts).make(wanted, changedBy())
  const { session, token, csrf } = await sessions.openByLink(link, { requestId: changedBy().requestId, userAgent: 'x'.repeat(300) })
  const counts = async () => (await sessions.authenticate(token, csrf)) !== null
  return { clock, prolonged, faults, storage, counts, sessions, session, id: session.id }
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

test('a session counts although storage does not take the note of its use', async () => {
  const { clock, counts, storage, faults } = await open()
  storage.isAway = true
  clock.advance(MINUTE_MS)
  expect([await counts(), faults.length]).toEqual([true, 1])
})

test('of the name that a browser gives itself 256 characters are kept', async () => {
  expect((await open()).session.user_agent).toHaveLength(256)
})

test('a stream ends soon after its session, also if nobody watched for a while, and storage is asked only while somebody does', async () => {
  const { clock, sessions, storage, id } = await open()
  const pass = async (): Promise<void> => {
    clock.advance(400)
    for (let turns = 0; turns < 20; turns += 1) await turn()
  }
  const [one, other] = [sessions.watch(id), sessions.watch(id)]
  one.stop()
  await pass()
  expect(storage.looks).toBe(1)
  other.stop()
  await pass()
  await pass()
  const before = storage.looks
  await pass()
  expect(storage.looks).toBe(before)
  const later = sessions.watch(id)
  await sessions.signOut({ kind: 'admin', ...owner, sessionId: id }, changedBy())
  expect(later.signal.aborted).toBe(false)
  await pass()
  expect([later.signal.aborted, one.signal.aborted, other.signal.aborted]).toEqual([true, false, false])
})

test('a stream that ended is no longer watched, however often its end is told, and the next one of its session is', async () => {
  const { clock, sessions, session, id } = await open()
  const before = sessions.watch(id)
  before.stop()
  const next = sessions.watch(id)
  before.stop()
  await sessions.revoke({ workspaceId: session.workspace_id, userId: null }, id, changedBy())
  clock.advance(400)
  for (let turns = 0; turns < 5; turns += 1) await turn()
  expect([before.signal.aborted, next.signal.aborted]).toEqual([false, true])
})

test('while storage cannot be asked, streams go on, that is reported, and their sessions are looked for again', async () => {
  const { clock, storage, faults, sessions, id } = await open()
  const { signal, stop } = sessions.watch(id)
  storage.isAway = true
  for (let look = 0; look < 2; look += 1) {
    clock.advance(400)
    for (let turns = 0; turns < 5; turns += 1) await turn()
  }
  expect([storage.looks, faults.length, signal.aborted]).toEqual([2, 2, false])
  stop()
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
  const listed = await sessions.list({ workspaceId: owner.workspaceId, userId: owner.userId })
  expect([listed.length, listed.some((one) => one.id === id)]).toEqual([100, false])
})
