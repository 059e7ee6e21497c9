import { describe, expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../test/support/changed-by.ts'
import { createFakeClock, T0 } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import { openSqliteDatabase } from '../../test/support/sqlite-database.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { createKeyStore, type KeyStore } from '../storage/keys/key-store.ts'
import { rejection } from '../storage/testing/rejection.ts'
import { keyDigest, makeKey } from './key-format.ts'
import { EVERY_KEY } from '../contract/key-filter.ts'
import { createKeys, type Keys, type NewKey, type Pepper, UNBOUNDED } from './keys.ts'

const { database, owner } = await openSqliteDatabase()
const ids = createFakeIds()
const pepper = new Uint8Array(32).fill(7)
const peppers = (): readonly [Pepper] => [{ id: 'first', bytes: pepper }]
const onError = (thrown: unknown): never => {
  throw thrown
}

/** The real store, with a record of the look-ups that reach it. */
const open = () => {
  const store = createKeyStore(database)
  const looked: string[] = []
  const counted: KeyStore = {
    ...store,
    find(digests, now) {
      looked.push(...digests)
      return store.find(digests, now)
    },
  }
  const clock = createFakeClock()
  return { keys: createKeys({ store: counted, clock, ids, peppers, onError }), clock, looked, store }
}

const inference: NewKey = {
  kind: 'inference',
  name: 'a key',
  workspaceId: owner.workspaceId,
  creatorUserId: owner.userId,
  ...UNBOUNDED,
}

const typeOf = (thrown: unknown): string => (thrown instanceof GatewayError ? thrown.type : String(thrown))

describe('authenticate', () => {
  test('knows a key and whose it is; known once, it is known at once and without a query', async () => {
    const { keys, looked } = open()
    const { key, record } = await keys.create({ ...inference, kind: 'management' }, changedBy())
    const principal = {
      hash: record.hash,
      kind: 'management' as const,
      workspaceId: owner.workspaceId,
      userId: owner.userId,
      strict: false,
      rpmLimit: null,
      tpmLimit: null,
      providerFailure: null,
      externalUser: null,
      limit: null,
      isReplaced: false,
    }
    expect(await keys.authenticate(key)).toEqual(principal)
    expect(keys.authenticate(key)).toEqual(principal)
    expect(looked).toEqual([record.hash])
  })

  test.each<[string, (key: string) => string]>([
    ['another last character', (key) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    [
      'another character of the secret',
      (key) => key.replace(/_(.)([^_]*)$/, (_, first: string, rest: string) => `_${first === 'A' ? 'B' : 'A'}${rest}`),
    ],
    ['the other kind', (key) => key.replace('pb_inf_', 'pb_mgmt_')],
    ['a character too many', (key) => `${key}0`],
    ['a character too few', (key) => key.slice(0, -1)],
    ['white space', (key) => ` ${key}`],
    ['a line end', (key) => `${key}\n`],
    ['other case', (key) => key.toUpperCase()],
    ['SQL', (key) => `${key}' or '1'='1`],
    ['nothing', () => ''],
    ['a foreign key', () => 'sk-proj-1234567890123456789012345678901234567890123456789'],
    ['emoji', () => '🔑'.repeat(10)],
    ['10 KB', () => 'pb_inf_'.padEnd(10_000, 'A')],
  ])('refuses a wrong checksum without asking the store: %s', async (_, change) => {
    const { keys, looked } = open()
    const { key } = await keys.create(inference, changedBy())
    expect(keys.authenticate(change(key))).toBeNull()
    expect(looked).toEqual([])
  })

  test('refuses a well-formed key that nobody made, and asks for it once', async () => {
    const { keys, looked } = open()
    const stranger = makeKey('inference', createFakeIds())
    expect(await keys.authenticate(stranger)).toBeNull()
    expect(keys.authenticate(stranger)).toBeNull()
    expect(looked).toEqual([keyDigest(stranger, pepper)])
  })

  test('refuses the same key under another pepper', async () => {
    const { keys, store, clock } = open()
    const { key } = await keys.create(inference, changedBy())
    expect(
      await createKeys({
        store,
        clock,
        ids,
        peppers: () => [{ id: 'first', bytes: new Uint8Array(32) }],
        onError: () => undefined,
      }).authenticate(key),
    ).toBeNull()
  })

  test('refuses a key from the very instant at which it expires, known or not', async () => {
    const { keys, clock } = open()
    const { key } = await keys.create({ ...inference, expiresAt: isoTimestamp(T0 + 1000) }, changedBy())
    clock.advance(999)
    expect(await keys.authenticate(key)).not.toBeNull()
    clock.advance(1)
    expect(keys.authenticate(key)).toBeNull()
    keys.refreshCache()
    expect(await keys.authenticate(key)).toBeNull()
  })

  test('an expiry is an instant, however it is written', async () => {
    const { keys, clock } = open()
    const { key } = await keys.create({ ...inference, expiresAt: '2026-11-20T10:00:01Z' }, changedBy())
    clock.advance(999)
    expect(await keys.authenticate(key)).not.toBeNull()
    clock.advance(1)
    expect(keys.authenticate(key)).toBeNull()
  })

  test('refuses a disabled key at once, and knows it again when it is enabled', async () => {
    const { keys } = open()
    const { key, record } = await keys.create(inference, changedBy())
    expect(await keys.authenticate(key)).not.toBeNull()
    await keys.update(owner.workspaceId, record.hash, { disabled: true }, changedBy())
    expect(await keys.authenticate(key)).toBeNull()
    await keys.update(owner.workspaceId, record.hash, { disabled: false }, changedBy())
    expect(await keys.authenticate(key)).not.toBeNull()
  })

  test('refuses a revoked key at once and for ever', async () => {
    const { keys } = open()
    const { key, record } = await keys.create(inference, changedBy())
    expect(await keys.authenticate(key)).not.toBeNull()
    await keys.revoke(owner.workspaceId, record.hash, changedBy())
    expect(await keys.authenticate(key)).toBeNull()
    expect(typeOf(await rejection(keys.update(owner.workspaceId, record.hash, { disabled: false }, changedBy())))).toBe('not_found')
    expect(typeOf(await rejection(keys.revoke(owner.workspaceId, record.hash, changedBy())))).toBe('not_found')
    expect(await keys.authenticate(key)).toBeNull()
  })

  test('sees what another process changed once the cache is dropped', async () => {
    const { keys, store } = open()
    const { key, record } = await keys.create(inference, changedBy())
    expect(await keys.authenticate(key)).not.toBeNull()
    await store.revoke(owner.workspaceId, record.hash, changeAt(isoTimestamp(T0)))
    keys.refreshCache()
    expect(await keys.authenticate(key)).toBeNull()
  })

  test('a key that was asked for before it was made is known right after', async () => {
    const { clock, store } = open()
    const keys = createKeys({ store, clock, ids: { ...ids, bytes: (length) => new Uint8Array(length).fill(91) }, peppers, onError })
    const token = makeKey('inference', { ...ids, bytes: (length) => new Uint8Array(length).fill(91) })
    expect(await keys.authenticate(token)).toBeNull()
    const { key } = await keys.create(inference, changedBy())
    expect(key).toBe(token)
    expect(await keys.authenticate(token)).not.toBeNull()
  })

  test('a look-up that began before a revocation and ends after it admits nobody later', async () => {
    const { clock, store } = open()
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let first = true
    const slow: KeyStore = {
      ...store,
      async find(digests, now) {
        const found = await store.find(digests, now)
        if (first) {
          first = false
          await held
        }
        return found
      },
    }
    const keys = createKeys({ store: slow, clock, ids, peppers, onError })
    const { key, record } = await keys.create(inference, changedBy())
    const early = keys.authenticate(key)
    await keys.revoke(owner.workspaceId, record.hash, changedBy())
    release()
    await early
    expect(await keys.authenticate(key)).toBeNull()
  })

  test.each<[string, (keys: Keys, hash: string) => Promise<unknown>]>([
    ['disabled', (keys, hash) => keys.update(null, hash, { disabled: true }, changedBy())],
    ['revoked', (keys, hash) => keys.revoke(null, hash, changedBy())],
    ['replaced', (keys, hash) => keys.rotate(null, hash, 0, changedBy())],
  ])('a key that was %s here is not admitted as it was last known while storage is away', async (_, change) => {
    const { clock, store } = open()
    let away = false
    const keys = createKeys({
      store: { ...store, find: async (digests, now) => (away ? Promise.reject(new Error('away')) : store.find(digests, now)) },
      clock,
      ids,
      peppers,
      onError,
    })
    const { key, record } = await keys.create(inference, changedBy())
    const { key: other } = await keys.create(inference, changedBy())
    for (const token of [key, other]) expect(await keys.authenticate(token)).not.toBeNull()
    await change(keys, record.hash)
    away = true
    expect(String(await rejection(Promise.resolve(keys.authenticate(key))))).toContain('away')
    expect(await keys.authenticate(other)).not.toBeNull()
  })

  test.each([
    ['a minute after it was replaced', null, 60_000],
    ['with its key, if that ends before', 20_000, 20_000],
  ])('a replaced secret that is known already ends %s; the new one goes on', async (_, expiresInMs, endsInMs) => {
    const { keys, clock } = open()
    const expiresAt = expiresInMs === null ? null : isoTimestamp(clock.now() + expiresInMs)
    const { key, record } = await keys.create({ ...inference, expiresAt }, changedBy())
    const next = await keys.rotate(null, record.hash, 60, changedBy())
    expect([(await keys.authenticate(key))?.isReplaced, (await keys.authenticate(next.key))?.isReplaced]).toEqual([true, false])
    clock.advance(endsInMs - 1)
    expect(keys.authenticate(key)).toMatchObject({ hash: record.hash, isReplaced: true })
    clock.advance(1)
    expect(keys.authenticate(key)).toBeNull()
    if (expiresInMs === null) expect(keys.authenticate(next.key)).toMatchObject({ hash: record.hash, isReplaced: false })
  })

  test('keys that begin alike are two identities (CVE-2026-35030)', async () => {
    let last = 0
    const alike = { ...createFakeIds(), bytes: (length: number) => new Uint8Array(length).fill(200).with(length - 1, (last += 1)) }
    const keys = createKeys({ store: createKeyStore(database), clock: createFakeClock(), ids: alike, peppers, onError })
    const [one, two] = [await keys.create(inference, changedBy()), await keys.create(inference, changedBy())]
    expect(one.key.slice(0, 45)).toBe(two.key.slice(0, 45))
    expect((await keys.authenticate(one.key))?.hash).toBe(one.record.hash)
    expect((await keys.authenticate(two.key))?.hash).toBe(two.record.hash)
    expect(two.record.hash).not.toBe(one.record.hash)
  })

  test('while storage is away: a known key goes on, an unknown one is a fault and no refusal', async () => {
    const { clock, store } = open()
    let away = false
    const keys = createKeys({
      store: { ...store, find: async (digests, now) => (away ? Promise.reject(new Error('away')) : store.find(digests, now)) },
      clock,
      ids,
      peppers,
      onError,
    })
    const { key: known } = await keys.create(inference, changedBy())
    const { key: other } = await keys.create(inference, changedBy())
    await keys.authenticate(known)
    away = true
    expect(keys.authenticate(known)).not.toBeNull()
    expect(String(await rejection(Promise.resolve(keys.authenticate(other))))).toContain('away')
    away = false
    expect(await keys.authenticate(other)).not.toBeNull()
  })
})

test('a key of an older pepper is known even if its new digest cannot be stored, which is reported', async () => {
  const { keys, store, clock } = open()
  const { key } = await keys.create(inference, changedBy())
  const faults: unknown[] = []
  const renewed = createKeys({
    store: { ...store, renewDigest: () => Promise.reject(new Error('read-only')) },
    clock,
    ids,
    peppers: () => [{ id: 'second', bytes: new Uint8Array(32).fill(8) }, ...peppers()],
    onError: (thrown) => faults.push(thrown),
  })
  expect(await renewed.authenticate(key)).not.toBeNull()
  expect(faults.map(String)).toEqual(['Error: read-only'])
})

test('uses that could not be stored are stored with the next ones, each key by its newest', async () => {
  const { store, clock } = open()
  const noted: [string, string][][] = []
  let away = true
  const keys = createKeys({
    store: {
      ...store,
      async noteUses(uses) {
        if (away) {
          // The key is used once more meanwhile.
          clock.advance(1000)
          await keys.authenticate(often.key)
          throw new Error('away')
        }
        noted.push([...uses])
      },
    },
    clock,
    ids,
    peppers,
    onError,
  })
  const [often, once] = [await keys.create(inference, changedBy()), await keys.create(inference, changedBy())]
  for (const { key } of [often, once]) await keys.authenticate(key)
  expect(String(await rejection(keys.noteUses()))).toContain('away')
  away = false
  await keys.noteUses()
  expect(noted).toEqual([
    [
      [often.record.hash, isoTimestamp(T0 + 1000)],
      [once.record.hash, isoTimestamp(T0)],
    ],
  ])
})

describe('create', () => {
  test.each([-1, 0])('400: an expiry that has passed (%d ms from now)', async (ms) => {
    const { keys } = open()
    const thrown = await rejection(keys.create({ ...inference, expiresAt: isoTimestamp(T0 + ms) }, changedBy()))
    expect(typeOf(thrown)).toBe('invalid_request')
  })

  test('stores neither the key nor a part of it that could be used', async () => {
    const { keys, store } = open()
    const { key, record } = await keys.create(inference, changedBy())
    const stored = JSON.stringify(await store.get(record.hash))
    expect(stored).not.toContain(key.slice(7, -4))
    expect(record.label).toBe(`pb_inf_…${key.slice(-4)}`)
    expect(record.hash).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('a key of another workspace', () => {
  const other = '11111111-1111-4111-8111-111111111111'
  test('404: it is read, changed and revoked as if it were not there', async () => {
    const { keys } = open()
    const { key, record } = await keys.create(inference, changedBy())
    expect(typeOf(await rejection(keys.get(other, record.hash)))).toBe('not_found')
    expect(typeOf(await rejection(keys.update(other, record.hash, { disabled: true }, changedBy())))).toBe('not_found')
    expect(typeOf(await rejection(keys.revoke(other, record.hash, changedBy())))).toBe('not_found')
    expect(await keys.authenticate(key)).not.toBeNull()
    expect(await keys.list({ ...EVERY_KEY, workspaceId: other, offset: 0, limit: 100 })).toEqual({ items: [], next: null })
  })
})

test('a list tells the use of each key, also of one that was never used', async () => {
  const { keys } = open()
  const { record } = await keys.create(inference, changedBy())
  const listed = await keys.list({ ...EVERY_KEY, workspaceId: owner.workspaceId, offset: 0, limit: 100 })
  expect(listed.items.find((entry) => entry.record.hash === record.hash)?.used.usage.totalNanos).toBe(0)
})
