import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { createChangeCounter } from '../changes/change-counter.ts'
import { EVERY_KEY } from '../../contract/key-filter.ts'
import { type KeyListInput, listKeys } from './key-list.ts'
import type { KeyRecord } from './key-record.ts'
import { createMemberStore } from '../workspaces/member-store.ts'
import { createKeyStore } from './key-store.ts'
import { preparePresets, T0, T1, T2 } from '../testing/preset-input.ts'
import { rejection } from '../testing/rejection.ts'
import { keyRecord } from '../testing/key-record.ts'

const hashOf = (digit: string): string => digit.repeat(64)

describeEachEngine('key store', (engine) => {
  const prepare = async () => {
    const database = await engine.open()
    const { workspaceId } = await preparePresets(database)
    const key = (hash: string, more: Partial<KeyRecord> = {}): KeyRecord =>
      keyRecord({
        hash,
        workspaceId,
        limitNanos: 5_000_000_000_000,
        limitReset: 'monthly',
        includeByokInLimit: true,
        rpmLimit: 60,
        ...more,
      })
    return { database, workspaceId, key, store: createKeyStore(database), counter: createChangeCounter(database) }
  }

  test('a key comes back as it was inserted', async () => {
    const { store, key } = await prepare()
    const full = key(hashOf('a'), { providerFailure: 'status', externalUser: 'Søren’s shop' })
    const bare = key(hashOf('b'), { kind: 'management', disabled: true, limitNanos: null, limitReset: null, includeByokInLimit: false })
    await store.insert(full, changedBy())
    await store.insert(bare, changedBy())
    expect(await store.get(full.hash)).toEqual(full)
    expect(await store.get(bare.hash)).toEqual(bare)
    expect(await store.get(hashOf('c'))).toBeNull()
  })

  test('a key is found by its digest, which may change while its hash stays', async () => {
    const { store, key, workspaceId } = await prepare()
    await store.insert(key(hashOf('a')), changedBy())
    expect((await store.find([hashOf('c'), hashOf('a')], T0))?.hash).toBe(hashOf('a'))
    expect(await store.countOtherPeppers('second')).toBe(1)
    await store.renewDigest(hashOf('a'), hashOf('b'), 'second')
    expect([await store.find([hashOf('a')], T0), (await store.find([hashOf('b')], T0))?.hash]).toEqual([null, hashOf('a')])
    expect([(await store.get(hashOf('a')))?.pepperId, await store.countOtherPeppers('second')]).toEqual(['second', 0])
    await store.revoke(workspaceId, hashOf('a'), changeAt(T1))
    expect(await store.find([hashOf('b')], T0)).toBeNull()
  })

  test('an update changes what is named; null clears, absent leaves; one that changes nothing leaves its time too', async () => {
    const { store, key, workspaceId } = await prepare()
    const before = key(hashOf('a'))
    await store.insert(before, changedBy())
    const after = { ...before, name: 'renamed', disabled: true, limitNanos: null, providerFailure: 'auto' as const, updatedAt: T1 }
    const patch = { name: 'renamed', disabled: true, limitNanos: null, providerFailure: 'auto' } as const
    expect(await store.update(workspaceId, before.hash, patch, changeAt(T1))).toEqual(after)
    expect(await store.update(workspaceId, before.hash, {}, changeAt(T2))).toEqual(after)
    expect(await store.get(before.hash)).toEqual(after)
    expect(await store.update('another', before.hash, { name: 'x' }, changeAt(T2))).toBeNull()
  })

  test('a list that looks through few keys goes on where it ended, and has each key that fits once, in each order', async () => {
    const { database, store, key, workspaceId } = await prepare()
    for (let number = 0; number < 10; number += 1) {
      const more = {
        name: `${number % 4 === 0 ? 'Rare' : 'ci'} ${number % 5}`,
        createdAt: [T0, T1][number % 2] ?? T0,
        disabled: number === 3,
      }
      await store.insert(key(hashOf(String(number)), { ...more, creatorUserId: `user-${number % 3}` }), changedBy())
    }
    await store.revoke(null, hashOf('5'), changeAt(T1))
    await store.noteUses(new Map(['2', '3', '5', '7', '8'].map((digit) => [hashOf(digit), digit < '6' ? T1 : T2])))
    const all = { ...EVERY_KEY, workspaceId, now: T2, offset: 0, limit: 100 }
    for (const sort of ['created_at', 'name', 'last_used_at'] as const) {
      for (const more of [
        {},
        { workspaceId: null },
        { q: 'rare' },
        { status: 'active' },
        { status: 'disabled' },
        { onlyUserId: 'user-1' },
        { userId: 'user-2', q: 'ci' },
        { kind: 'management' },
        { purpose: 'playground' },
      ] as const) {
        const whole = (await listKeys(database, { ...all, sort, ...more })).rows.map(({ hash }) => hash)
        const seen: string[] = []
        for (let after: KeyListInput['after'] = null; ;) {
          const { rows, next }: Awaited<ReturnType<typeof listKeys>> = await listKeys(
            database,
            { ...all, sort, ...more, after, limit: 3 },
            2,
          )
          seen.push(...rows.map(({ hash }) => hash))
          if (next === null) break
          after = next
        }
        expect({ sort, more, seen }).toEqual({ sort, more, seen: whole })
      }
    }
  })

  test('a key is found by the id, the name and the address of its holder in its workspace, in any case, and not by those of others', async () => {
    const { database, store, key, workspaceId } = await prepare()
    const members = createMemberStore(database)
    for (const user of ['u-1', 'u-2']) await store.insert(key(hashOf(user.slice(-1)), { creatorUserId: user, name: 'x' }), changedBy())
    const member = { role: 'member', created_at: T0, name: null, email: null } as const
    await members.add(
      ['u-1', 'u-2'].map((user) => ({ ...member, id: user, workspace_id: workspaceId, user_id: user })),
      changeAt(T1),
    )
    await members.update({ workspaceId, userId: 'u-2' }, { name: 'Ada Lovelace', email: 'al@example.org' }, changeAt(T1))
    const found = async (q: string) =>
      (await listKeys(database, { ...EVERY_KEY, workspaceId, now: T2, offset: 0, limit: 9, q })).rows.map(({ hash }) => hash)
    expect(await Promise.all(['lovelace', 'AL@example', 'U-2', 'nobody'].map(found))).toEqual([
      [hashOf('2')],
      [hashOf('2')],
      [hashOf('2')],
      [],
    ])
  })

  test('who passes keys over by their number has each page in full, or is told that it takes a look at too many', async () => {
    const { database, store, key, workspaceId } = await prepare()
    for (let number = 0; number < 9; number += 1) await store.insert(key(hashOf(String(number)), { disabled: number === 4 }), changedBy())
    const listed = async (status: 'enabled' | 'all' | 'disabled', offset: number, limit = 2) => {
      const input = { ...EVERY_KEY, status, workspaceId, now: T2, offset, limit }
      const { rows, isCut } = await listKeys(database, input, 4, 6)
      return isCut ? null : rows.length
    }
    expect(await Promise.all([1, 3, 5, 6].map((offset) => listed('enabled', offset)))).toEqual([2, 2, 2, 2])
    expect(await Promise.all([7, 8].map((offset) => listed('enabled', offset)))).toEqual([null, null])
    expect(await Promise.all([0, 1, 2].map((offset) => listed('disabled', offset)))).toEqual([0, null, null])
    // Nothing has to be looked through if the index covers the filter.
    expect(await Promise.all([7, 8, 9].map((offset) => listed('all', offset)))).toEqual([2, 1, 0])
  })

  test('the last use of a key is the latest that was noted, however many are noted at once, also by a process of an earlier version', async () => {
    const { database, store, key } = await prepare()
    for (const digit of ['a', 'b', 'c']) await store.insert(key(hashOf(digit)), changedBy())
    const crowd = Array.from({ length: 70_000 }, (_, index): [string, string] => [String(index).padStart(64, '0'), T1])
    await store.noteUses(new Map([...crowd, [hashOf('a'), T1], [hashOf('b'), T0]]))
    await store.noteUses(new Map([[hashOf('a'), T0]]))
    const lastUses = () => Promise.all(['a', 'b', 'c'].map(async (digit) => (await store.get(hashOf(digit)))?.lastUsedAt))
    expect(await lastUses()).toEqual([T1, T0, null])
    // A SQLite database is used by one process only.
    if (engine.name === 'sqlite') return
    const note = (at: string) =>
      sql`insert into key_uses (key_hash, last_used_at) values (${hashOf('a')}, ${T0}), (${hashOf('c')}, ${at})
        on conflict (key_hash) do update set last_used_at = excluded.last_used_at`.execute(database.kysely)
    await note(T0)
    expect(await lastUses()).toEqual([T1, T0, T0])
    await note(T2)
    expect(await lastUses()).toEqual([T1, T0, T2])
  })

  test('a revoked key is gone for ever: not read, listed, updated, revoked or inserted again', async () => {
    const { store, key, workspaceId } = await prepare()
    const dead = key(hashOf('a'))
    await store.insert(dead, changedBy())
    expect(await store.revoke('another', dead.hash, changeAt(T1))).toBe(false)
    expect(await store.revoke(workspaceId, dead.hash, changeAt(T1))).toBe(true)
    expect(await store.revoke(workspaceId, dead.hash, changeAt(T2))).toBe(false)
    expect(await store.get(dead.hash)).toBeNull()
    expect(await store.update(workspaceId, dead.hash, { disabled: false }, changeAt(T2))).toBeNull()
    expect(await store.list({ ...EVERY_KEY, workspaceId, now: T2, offset: 0, limit: 10 })).toEqual({ items: [], next: null, isCut: false })
    expect(await rejection(store.insert(dead, changedBy()))).toBeInstanceOf(Error)
  })

  test('lists newest first, page by page, disabled ones only when asked', async () => {
    const { store, key, workspaceId } = await prepare()
    await store.insert(key(hashOf('a'), { createdAt: T0 }), changedBy())
    await store.insert(key(hashOf('b'), { createdAt: T2, disabled: true }), changedBy())
    await store.insert(key(hashOf('c'), { createdAt: T1 }), changedBy())
    const listed = async (includeDisabled: boolean, offset: number, limit: number) =>
      (await store.list({ ...EVERY_KEY, status: includeDisabled ? 'all' : 'enabled', workspaceId, now: T2, offset, limit })).items
        .map(({ hash }) => hash[0])
        .join('')
    expect(await listed(false, 0, 10)).toBe('ca')
    expect(await listed(true, 0, 10)).toBe('bca')
    expect(await listed(true, 1, 1)).toBe('c')
  })

  test('every change moves the change counter, and a change of nothing does not', async () => {
    const { store, key, workspaceId, counter } = await prepare()
    const start = await counter.read()
    await store.insert(key(hashOf('a')), changedBy())
    await store.update(workspaceId, hashOf('a'), { disabled: true }, changeAt(T1))
    await store.revoke(workspaceId, hashOf('a'), changeAt(T1))
    await store.revoke(workspaceId, hashOf('a'), changeAt(T1))
    expect(await counter.read()).toBe(start + 3)
  })

  test('usage counts the UTC day, the week from Monday, the month from the 1st, and everything', async () => {
    const { store, database } = await prepare()
    const hash = hashOf('a')
    // 2026-12-02 is a Wednesday: its week began in November, before its month did.
    const days = { '2025-12-02': 1, '2026-11-29': 10, '2026-11-30': 100, '2026-12-01': 1000, '2026-12-02': 3_000_000_000_000 }
    await database.transaction(async (transaction) => {
      for (const [day, cost] of Object.entries(days)) {
        await transaction
          .insertInto('key_usage_days')
          .values({ key_hash: hash, day, cost_nanos: cost, byok_cost_nanos: cost * 2, requests: 1, tokens: 1 })
          .execute()
      }
    })
    const usage = {
      totalNanos: 3_000_000_001_111,
      dailyNanos: 3_000_000_000_000,
      weeklyNanos: 3_000_000_001_100,
      monthlyNanos: 3_000_000_001_000,
    }
    const byok = {
      totalNanos: 6_000_000_002_222,
      dailyNanos: 6_000_000_000_000,
      weeklyNanos: 6_000_000_002_200,
      monthlyNanos: 6_000_000_002_000,
    }
    const nothing = { totalNanos: 0, dailyNanos: 0, weeklyNanos: 0, monthlyNanos: 0 }
    expect(await store.usage(hash, '2026-12-02T23:59:59.999Z')).toEqual({ usage, byok })
    expect(await store.usage(hash, '2027-02-01T00:00:00.000Z')).toMatchObject({ usage: { ...nothing, totalNanos: 3_000_000_001_111 } })
    expect(await store.usageOfMany([hash, hashOf('b')], '2026-12-02T00:00:00.000Z')).toEqual(
      new Map([
        [hash, { usage, byok }],
        [hashOf('b'), { usage: nothing, byok: nothing }],
      ]),
    )
    expect(await store.usageOfMany([], T0)).toEqual(new Map())
  })
})
