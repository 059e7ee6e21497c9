import { describe, expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { createFakeClock, T0 } from '../../../test/support/fake-clock.ts'
import { EVERY_KEY, type KeySort } from '../../contract/key-filter.ts'
import { DEFAULT_SETTINGS } from '../../contract/workspace-settings.ts'
import { createKeys, UNBOUNDED } from '../../keys/keys.ts'
import { isoTimestamp } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import { createKeyStore } from '../keys/key-store.ts'
import { createOauthCodeStore, deleteCodesOfKey, deleteCodesOfPeople } from './oauth-code-store.ts'
import { createSessionStore, type SessionRecord } from './session-store.ts'
import { createMemberStore, type MemberToChange } from './member-store.ts'
import { rejectionText } from '../testing/rejection.ts'
import { createWorkspaceStore } from './workspace-store.ts'

const at = (minutes: number): string => isoTimestamp(T0 + minutes * 60_000)
const NOW = at(0)

describeEachEngine('people', (engine) => {
  const open = async () => {
    const database = await engine.open()
    const owner = await createWorkspaceStore(database).ensureDefaults({ workspaceId: 'w-0', userId: 'owner', now: NOW })
    const clock = createFakeClock()
    const keyStore = createKeyStore(database)
    const pepper = { id: 'first', bytes: new Uint8Array(32) }
    const keys = createKeys({ store: keyStore, clock, ids: systemIds, peppers: () => [pepper], onError: () => undefined })
    return { database, members: createMemberStore(database), owner, clock, keys, keyStore, sessions: createSessionStore(database) }
  }

  const sessionOf = (id: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
    id,
    digest: `digest of ${id}`,
    csrf_digest: `csrf of ${id}`,
    workspace_id: 'w-0',
    user_id: 'owner',
    role: 'admin',
    key_hash: null,
    user_agent: null,
    created_at: NOW,
    last_used_at: NOW,
    expires_at: at(60),
    ends_at: at(600),
    ...more,
  })
  const linkOf = (id: string, user: string) => ({
    id,
    digest: `digest of ${id}`,
    workspace_id: 'w-0',
    user_id: user,
    created_at: NOW,
    expires_at: at(15),
  })

  describe('a session', () => {
    test('counts until it expires, and longer where it was prolonged', async () => {
      const { sessions } = await open()
      await sessions.insert(sessionOf('s-1'), changedBy())
      expect((await sessions.find(['other', 'digest of s-1'], at(59)))?.id).toBe('s-1')
      expect(await sessions.find(['digest of s-1'], at(60))).toBeNull()
      await sessions.prolong('s-1', at(30), at(90))
      expect([...(await sessions.live(['s-1', 's-2'], at(60)))]).toEqual(['s-1'])
      expect(await sessions.deleteExpired(at(91), 10)).toBe(1)
      expect(await sessions.list({ workspaceId: null, userId: null }, NOW, 10)).toEqual([])
    })

    test('counts as long as its key is in force; the key coming back does not bring it back', async () => {
      const { sessions, keys } = await open()
      const made = await keys.create(
        { ...UNBOUNDED, kind: 'management', name: 'k', workspaceId: 'w-0', creatorUserId: 'nobody', expiresAt: at(30) },
        changedBy(),
      )
      const { hash } = made.record
      await sessions.insert(sessionOf('s-1', { key_hash: hash, user_id: 'nobody' }), changedBy())
      const counts = async (minutes = 1) => (await sessions.find(['digest of s-1'], at(minutes))) !== null
      expect([await counts(), await counts(31)]).toEqual([true, false])
      await keys.update(null, hash, { disabled: true }, changedBy())
      expect(await counts()).toBe(false)
      await keys.update(null, hash, { disabled: false }, changedBy())
      expect(await counts()).toBe(false)
      await sessions.insert(sessionOf('s-1', { key_hash: hash, user_id: 'nobody' }), changedBy())
      expect(await counts()).toBe(true)
      await keys.revoke(null, hash, changedBy())
      expect(await counts()).toBe(false)
    })

    test('of a link counts as long as its person has that role; the role coming back does not bring it back', async () => {
      const { sessions, members } = await open()
      await sessions.addLink({ ...linkOf('l-1', 'ada'), role: null }, 'm-1', changedBy())
      await sessions.redeem(['digest of l-1'], changeAt(NOW), (link) => sessionOf('s-1', { user_id: link.user_id, role: link.role }))
      const counts = async () => (await sessions.find(['digest of s-1'], NOW))?.role ?? null
      expect(await counts()).toBe('member')
      await members.update({ workspaceId: 'w-0', userId: 'ada' }, { name: 'Ada' }, changeAt(NOW))
      expect(await counts()).toBe('member')
      for (const role of ['admin', 'member'] as const) {
        expect((await members.update({ workspaceId: 'w-0', userId: 'ada' }, { role }, changeAt(NOW)))?.role).toBe(role)
        expect(await counts()).toBeNull()
      }
    })

    test('a link and a code are gone with the membership of their person, and do not come back with it', async () => {
      const { database, sessions, members } = await open()
      const code = { workspace_id: 'w-0', user_id: 'ada', callback_url: null, code_challenge: null, code_challenge_method: null }
      const codes = createOauthCodeStore(database)
      await codes.insert({
        ...code,
        id: 'c',
        digest: 'c',
        key_settings: '{}',
        created_at: NOW,
        expires_at: at(10),
        used_at: null,
        key_hash: null,
      })
      for (const id of ['l-1', 'l-2']) await sessions.addLink({ ...linkOf(id, 'ada'), role: null }, `m-${id}`, changedBy())
      const redeem = (link: string) =>
        sessions.redeem([`digest of ${link}`], changeAt(NOW), ({ role }) => sessionOf('s-1', { user_id: 'ada', role }))
      expect(await redeem('l-1')).not.toBeNull()
      expect(await members.remove('w-0', ['ada'], changeAt(NOW))).toBe(1)
      const member = { id: 'm-3', workspace_id: 'w-0', user_id: 'ada', role: 'member', name: null, email: null, created_at: NOW } as const
      expect(await members.add([member], changeAt(NOW))).toHaveLength(1)
      expect([await redeem('l-2'), await sessions.get('s-1', NOW), await codes.find(['c'])]).toEqual([null, null, null])
    })

    test('that was opened last is the first of a list, and expired ones and links are deleted up to a number of each', async () => {
      const { sessions } = await open()
      for (const [id, minute] of [
        ['s-1', 1],
        ['s-2', 3],
        ['s-3', 2],
      ] as const)
        await sessions.insert(sessionOf(id, { created_at: at(minute) }), changedBy())
      const list = async () => (await sessions.list({ workspaceId: 'w-0', userId: null }, NOW, 2)).map(({ id }) => id)
      expect(await list()).toEqual(['s-2', 's-3'])
      for (const id of ['l-1', 'l-2']) await sessions.addLink({ ...linkOf(id, 'ada'), role: null }, `m-${id}`, changedBy())
      const deleted: number[] = []
      for (let round = 0; round < 4; round += 1) deleted.push(await sessions.deleteExpired(round === 0 ? at(16) : at(61), 2))
      expect(deleted).toEqual([2, 2, 1, 0])
    })

    test('in which the secret of its key is replaced stays, and the other sessions of that key end', async () => {
      const { sessions, keys } = await open()
      const { record } = await keys.create(
        { ...UNBOUNDED, kind: 'management', name: 'k', workspaceId: 'w-0', creatorUserId: 'owner' },
        changedBy(),
      )
      for (const id of ['s-1', 's-2']) await sessions.insert(sessionOf(id, { key_hash: record.hash }), changedBy())
      await sessions.insert(sessionOf('s-3'), changedBy())
      await keys.rotate(null, record.hash, 60, { ...changedBy(), sessionId: 's-1' })
      expect([...(await sessions.live(['s-1', 's-2', 's-3'], NOW))].toSorted()).toEqual(['s-1', 's-3'])
    })

    test('is ended within its scope alone', async () => {
      const { sessions } = await open()
      await sessions.insert(sessionOf('s-1'), changedBy())
      for (const scope of [
        { workspaceId: 'w-1', userId: null },
        { workspaceId: null, userId: 'ada' },
      ])
        expect(await sessions.end(scope, 's-1', 'revoked', changeAt(NOW))).toBe(false)
      expect(await sessions.end({ workspaceId: 'w-0', userId: 'owner' }, 's-1', 'revoked', changeAt(NOW))).toBe(true)
    })
  })

  test('what is done to one session, sign-in link or code leaves the others as they are', async () => {
    const { database, sessions } = await open()
    const ids = async (now: string) => (await sessions.list({ workspaceId: 'w-0', userId: null }, now, 10)).map(({ id }) => id).toSorted()
    for (const id of ['s-1', 's-2', 's-3']) await sessions.insert(sessionOf(id), changedBy())
    await sessions.prolong('s-1', at(30), at(90))
    expect([await ids(NOW), await ids(at(60))]).toEqual([['s-1', 's-2', 's-3'], ['s-1']])
    expect(await sessions.end({ workspaceId: null, userId: null }, 's-1', 'revoked', changeAt(NOW))).toBe(true)
    expect(await ids(NOW)).toEqual(['s-2', 's-3'])
    await sessions.addLink({ ...linkOf('l-1', 'ada'), role: null }, 'm-1', changedBy())
    await sessions.addLink({ ...linkOf('l-2', 'ada'), role: null }, 'm-2', changedBy())
    const redeem = (link: string, id: string) =>
      sessions.redeem([`digest of ${link}`], changeAt(NOW), ({ user_id, role }) => sessionOf(id, { user_id, role }))
    expect([await redeem('l-1', 's-4'), await redeem('l-1', 's-5')]).toMatchObject([{ id: 's-4' }, null])
    expect(await redeem('l-2', 's-6')).toMatchObject({ id: 's-6' })
    expect((await sessions.list({ workspaceId: 'w-0', userId: 'ada' }, NOW, 10)).map(({ id }) => id)).toEqual(['s-6', 's-4'])
    // Ada loses her role; the owner keeps all sessions.
    await sessions.addLink({ ...linkOf('l-3', 'ada'), role: 'admin' }, 'm-1', changedBy())
    expect(await ids(NOW)).toEqual(['s-2', 's-3'])

    const codes = createOauthCodeStore(database)
    const code = { workspace_id: 'w-0', user_id: 'ada', callback_url: null, code_challenge: null, code_challenge_method: null }
    const fresh = { ...code, key_settings: '{}', created_at: NOW, expires_at: at(10), used_at: null, key_hash: null }
    for (const id of ['c-1', 'c-2', 'c-3']) await codes.insert({ ...fresh, id, digest: `digest of ${id}` })
    expect([await codes.claim('c-1', NOW), await codes.replayed('c-2')]).toEqual([true, null])
    expect([await codes.settle('c-1', 'key of c-1'), await codes.claim('c-3', NOW)]).toEqual([true, true])
    expect([await codes.settle('c-3', 'key of c-3'), await codes.replayed('c-3')]).toEqual([true, 'key of c-3'])

    const allowedBy = (hash: string) => JSON.stringify({ name: 'n', allowedBy: hash })
    for (const [id, hash, user_id] of [
      ['of-a', 'aa', 'ada'],
      ['of-b', 'bb', 'ada'],
      ['of-bob', 'bb', 'bob'],
    ] as const)
      await codes.insert({ ...fresh, id, digest: `digest of ${id}`, user_id, key_settings: allowedBy(hash) })
    await codes.insert({ ...fresh, id: 'used', digest: 'digest of used', key_settings: allowedBy('aa'), used_at: NOW })
    const left = async () => (await database.kysely.selectFrom('oauth_codes').select('id').orderBy('id').execute()).map(({ id }) => id)
    await database.transaction((transaction) => deleteCodesOfKey(transaction, 'aa'))
    expect(await left()).toEqual(['c-1', 'c-2', 'c-3', 'of-b', 'of-bob', 'used'])
    await database.transaction((transaction) => deleteCodesOfPeople(transaction, 'w-1', ['ada']))
    await database.transaction((transaction) => deleteCodesOfPeople(transaction, 'w-0', ['ada']))
    // A code that was used is kept, so that its second use is noticed.
    expect(await left()).toEqual(['c-1', 'c-3', 'of-bob', 'used'])
  })

  test('a person who is signed in leaves no workspace without an admin, however many members it has; where there is none, nothing is lost', async () => {
    const { sessions, members } = await open()
    await sessions.addLink({ ...linkOf('l-1', 'ada'), role: 'member' }, 'm-1', changedBy())
    const bySession = { by: { ...changedBy(), sessionId: 's-1' }, now: NOW }
    const [owner, ada] = ['owner', 'ada'].map((userId) => ({ workspaceId: 'w-0', userId })) as [MemberToChange, MemberToChange]
    expect(await rejectionText(members.update(owner, { role: 'member' }, bySession))).toContain('would have no admin')
    expect(await rejectionText(members.remove('w-0', ['owner'], bySession))).toContain('would have no admin')
    await members.update(owner, { role: 'member' }, changeAt(NOW))
    expect((await members.update(ada, { name: 'Ada', role: 'member' }, bySession))?.name).toBe('Ada')
  })

  test('of many who redeem one link at once, one gets a session; after its time nobody does', async () => {
    const { sessions } = await open()
    await sessions.addLink({ ...linkOf('l-1', 'ada'), role: 'admin' }, 'm-1', changedBy())
    const redeem = (id: string, now: string) => sessions.redeem(['digest of l-1'], changeAt(now), () => sessionOf(id, { user_id: 'ada' }))
    expect(await redeem('late', at(15))).toBeNull()
    const opened = await Promise.all(['a', 'b', 'c', 'd'].map((id) => redeem(id, NOW)))
    expect(opened.filter((session) => session !== null)).toHaveLength(1)
  })

  test('a person has one key for the playground, also where two requests make it at once', async () => {
    const { keys } = await open()
    const person = { workspaceId: 'w-0', userId: 'ada' }
    const made = await Promise.all([1, 2, 3].map(() => keys.playground(person, changedBy())))
    expect(new Set(made.map(({ hash }) => hash)).size).toBe(1)
    await keys.revoke(null, made[0]?.hash ?? '', changedBy())
    expect((await keys.playground(person, changedBy())).hash).not.toBe(made[0]?.hash ?? '')
  })

  test('the key for the playground is that of this person in this workspace, and none that the person made for something else', async () => {
    const { database, keys } = await open()
    const record = { name: 'w', description: null, createdAt: NOW, createdBy: 'owner', updatedAt: NOW, settings: DEFAULT_SETTINGS }
    await createWorkspaceStore(database).create({ ...record, id: 'w-1', slug: 'w-1' }, 'm-9', changedBy())
    const people = ['w-0', 'w-1'].flatMap((workspaceId) => ['ada', 'bob'].map((userId) => ({ workspaceId, userId })))
    const others = new Set<string>()
    for (const { workspaceId, userId: creatorUserId } of people)
      others.add((await keys.create({ ...UNBOUNDED, kind: 'inference', name: 'k', workspaceId, creatorUserId }, changedBy())).record.hash)
    const made: string[] = []
    for (const person of people) made.push((await keys.playground(person, changedBy())).hash)
    expect(new Set([...others, ...made]).size).toBe(8)
    for (const [at, person] of people.entries()) expect((await keys.playground(person, changedBy())).hash).toBe(made[at] ?? '')
  })

  test('a list of keys continues after each of its rows, in every order', async () => {
    const { keys, keyStore } = await open()
    const hashes: string[] = []
    for (const name of ['b', 'A', 'ä', 'b', 'Z', '%_\\']) {
      const { record } = await keys.create({ ...UNBOUNDED, kind: 'inference', name, workspaceId: 'w-0', creatorUserId: 'ada' }, changedBy())
      hashes.push(record.hash)
    }
    for (const [index, minutes] of [
      [1, 2],
      [3, 1],
    ] as const)
      await keyStore.noteUses(new Map([[hashes[index] ?? '', at(minutes)]]))
    await keyStore.noteUses(new Map([[hashes[1] ?? '', at(1)]]))
    const page = (sort: KeySort, after: { value: string; hash: string } | null) =>
      keyStore.list({ ...EVERY_KEY, sort, after, workspaceId: 'w-0', now: NOW, offset: 0, limit: 1 })
    for (const sort of ['created_at', 'name', 'last_used_at'] as const) {
      const seen: string[] = []
      let after: { value: string; hash: string } | null = null
      for (;;) {
        const { items, next }: Awaited<ReturnType<typeof page>> = await page(sort, after)
        seen.push(...items.map(({ hash }) => hash))
        if (next === null) break
        after = next
      }
      expect(seen.toSorted()).toEqual(hashes.toSorted())
      if (sort === 'last_used_at') expect(seen.slice(0, 2)).toEqual([hashes[1] ?? '', hashes[3] ?? ''])
    }
    const { items } = await keyStore.list({ ...EVERY_KEY, q: '%_\\', workspaceId: 'w-0', now: NOW, offset: 0, limit: 9 })
    expect(items.map(({ name }) => name)).toEqual(['%_\\'])
  })

  test('a rotated key is found by both of its secrets until the grace ends', async () => {
    const { keys, clock } = await open()
    const first = await keys.create({ ...UNBOUNDED, kind: 'inference', name: 'k', workspaceId: 'w-0', creatorUserId: 'ada' }, changedBy())
    const second = await keys.rotate(null, first.record.hash, 60, changedBy())
    const hashOf = async (key: string) => (await keys.authenticate(key))?.hash
    expect([await hashOf(first.key), await hashOf(second.key)]).toEqual([first.record.hash, first.record.hash])
    clock.advance(60_000)
    expect([await hashOf(first.key), await hashOf(second.key)]).toEqual([undefined, first.record.hash])
  })

  test('a code is claimed once; one that comes again before its key is written down leaves a mark', async () => {
    const { database } = await open()
    const codes = createOauthCodeStore(database)
    const code = {
      workspace_id: 'w-0',
      user_id: 'ada',
      callback_url: null,
      code_challenge: null,
      code_challenge_method: null,
      key_settings: '{}',
    }
    for (const id of ['c-1', 'c-2']) {
      await codes.insert({ ...code, id, digest: `digest of ${id}`, created_at: NOW, expires_at: at(10), used_at: null, key_hash: null })
    }
    const claims = await Promise.all([1, 2, 3].map(() => codes.claim('c-1', NOW)))
    expect(claims.filter((claimed) => claimed)).toHaveLength(1)
    expect([await codes.settle('c-1', 'the key'), await codes.replayed('c-1')]).toEqual([true, 'the key'])
    expect([await codes.replayed('c-2'), await codes.settle('c-2', 'the key')]).toEqual([null, false])
    expect((await codes.find(['digest of c-2']))?.id).toBe('c-2')
    expect(await codes.deleteExpired(at(11), 10)).toBe(2)
  })
})
