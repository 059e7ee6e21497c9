import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { createAuditLog, recordChange, type AuditedChange, type AuditFilter } from './audit-log.ts'
import { createChangeCounter } from './change-counter.ts'
import { createKeyStore } from '../keys/key-store.ts'
import { preparePresets, T0, T1, T2 } from '../testing/preset-input.ts'
import { rejection } from '../testing/rejection.ts'
import { keyRecord } from '../testing/key-record.ts'

describeEachEngine('audit log', (engine) => {
  const prepare = async () => {
    const database = await engine.open()
    const presets = await preparePresets(database)
    return {
      database,
      ...presets,
      log: createAuditLog(database, () => () => undefined),
      keys: createKeyStore(database),
      counter: createChangeCounter(database),
    }
  }
  const audit = (workspaceId: string, objectId: string): AuditedChange => ({
    workspaceId,
    action: 'updated',
    objectType: 'preset',
    objectId,
    before: null,
    after: { name: objectId },
  })

  test('an entry is written with its change or not at all, and so is the bump of the counter', async () => {
    const { database, workspaceId, log, counter } = await prepare()
    const before = await counter.read()
    const failed = recordChange(database, { by: changedBy(), now: T0 }, async (transaction) => {
      await transaction.updateTable('workspaces').set({ name: 'lost' }).execute()
      throw new Error('on the way')
    })
    expect(String(await rejection(failed))).toContain('on the way')
    expect((await log.list({ workspaceId, offset: 0, limit: 10 })).totalCount).toBe(0)
    expect(await counter.read()).toBe(before)
    const by = changedBy()
    expect(await recordChange(database, { by, now: T0 }, async () => ({ result: 7, audit: audit(workspaceId, 'a') }))).toBe(7)
    expect((await log.list({ workspaceId, offset: 0, limit: 10 })).items).toEqual([{ ...audit(workspaceId, 'a'), ...by, createdAt: T0 }])
    expect(await counter.read()).toBe(before + 1)
    // If the entry cannot be written, nothing is: here its id is taken.
    const twice = recordChange(database, { by, now: T0 }, async (transaction) => {
      await transaction.updateTable('workspaces').set({ name: 'lost' }).execute()
      return { result: null, audit: audit(workspaceId, 'b') }
    })
    await rejection(twice)
    const { name } = await database.kysely.selectFrom('workspaces').select('name').executeTakeFirstOrThrow()
    expect(name).toBe('Default')
  })

  test('entries of hundreds of kilobytes are read in turns, a few at a time, and small ones together', async () => {
    const { database, workspaceId } = await prepare()
    let turns = 0
    const log = createAuditLog(database, () => () => void (turns += 1))
    const name = 'x'.repeat(120_000)
    const write = async (times: number, after: { name: string }): Promise<void> => {
      for (let time = 0; time < times; time += 1)
        await recordChange(database, { by: changedBy(), now: T0 }, async () => ({
          result: null,
          audit: { ...audit(workspaceId, 'a'), after },
        }))
    }
    await write(20, { name: 'small' })
    expect((await log.page({ workspaceId }, 100)).items).toHaveLength(20)
    expect(turns).toBeLessThanOrEqual(2)
    await write(20, { name })
    for (const read of [() => log.list({ workspaceId, offset: 0, limit: 40 }), () => log.page({ workspaceId }, 40)]) {
      turns = 0
      const { items } = await read()
      expect(items.filter(({ after }) => after?.['name'] === name)).toHaveLength(20)
      expect(items.map(({ requestId }) => requestId)).toEqual(
        items
          .map(({ requestId }) => requestId)
          .toSorted()
          .toReversed(),
      )
      expect(turns).toBeGreaterThanOrEqual(10)
    }
  })

  test('what changed nothing has no entry', async () => {
    const { database, workspaceId, log, counter } = await prepare()
    const before = await counter.read()
    await recordChange(database, { by: changedBy(), now: T0 }, async () => ({ result: null, audit: null }))
    expect([(await log.list({ workspaceId, offset: 0, limit: 10 })).totalCount, await counter.read()]).toEqual([0, before])
  })

  test('newest first, in pages, by workspace and by object', async () => {
    const { database, workspaceId, log } = await prepare()
    for (const [now, workspace, object] of [
      [T0, workspaceId, 'a'],
      [T1, 'another', 'a'],
      [T2, workspaceId, 'b'],
    ] as const) {
      await recordChange(database, { by: changedBy(), now }, async () => ({ result: null, audit: audit(workspace, object) }))
    }
    const ids = async (filter: Parameters<typeof log.list>[0]) => (await log.list(filter)).items.map(({ objectId }) => objectId)
    expect(await ids({ workspaceId, offset: 0, limit: 10 })).toEqual(['b', 'a'])
    expect(await ids({ workspaceId, offset: 1, limit: 10 })).toEqual(['a'])
    expect((await log.list({ workspaceId: null, offset: 0, limit: 1 })).totalCount).toBe(3)
    expect(await ids({ workspaceId: null, objectId: 'a', offset: 0, limit: 10 })).toEqual(['a', 'a'])
    expect(await ids({ workspaceId, objectType: 'x%', offset: 0, limit: 10 })).toEqual([])
  })

  test('a page that looks through few entries goes on where it ended, and has each entry that fits once, whatever index finds it', async () => {
    const { database, workspaceId, log } = await prepare()
    const times = [T0, T1, T2]
    for (let number = 0; number < 12; number += 1) {
      const entry = {
        ...audit(number % 4 === 3 ? 'another' : workspaceId, `object-${number % 3}`),
        action: number === 4 ? 'rare' : 'updated',
      }
      await recordChange(database, { by: { ...changedBy(), userId: `user-${number % 2}` }, now: times[number % 3] ?? T0 }, async () => ({
        result: null,
        audit: entry,
      }))
    }
    const few = createAuditLog(database, () => () => undefined, 2)
    const filters: readonly AuditFilter[] = [
      { workspaceId },
      { workspaceId: null },
      { workspaceId, action: 'rare' },
      { workspaceId: null, userId: 'user-1', action: 'updated' },
      { workspaceId, objectType: 'preset', objectId: 'object-1' },
      { workspaceId: null, objectType: 'preset', objectId: 'object-1', userId: 'user-0' },
      { workspaceId, objectType: 'preset', from: T1, to: T2 },
      { workspaceId, action: 'nobody did this' },
    ]
    for (const filter of filters) {
      const whole = (await log.list({ ...filter, offset: 0, limit: 100 })).items.map(({ requestId }) => requestId)
      const seen: string[] = []
      for (let after: AuditFilter['after']; ;) {
        const { items, next } = await few.page({ ...filter, after }, 3)
        seen.push(...items.map(({ requestId }) => requestId))
        if (next === null) break
        after = next
      }
      expect({ filter, seen }).toEqual({ filter, seen: whole })
    }

    // There are 12 entries, nine of them in the workspace, and no index covers the action.
    const isLong = (numberedMax: number, filter: AuditFilter, offset = 0) =>
      createAuditLog(database, () => () => undefined, 2, numberedMax).isLong(filter, offset)
    expect([await isLong(11, { workspaceId: null, action: 'rare' }), await isLong(12, { workspaceId: null, action: 'rare' })]).toEqual([
      true,
      false,
    ])
    expect([await isLong(8, { workspaceId, action: 'rare' }), await isLong(9, { workspaceId, action: 'rare' })]).toEqual([true, false])
    // Indexes cover these filters, and each entry that they find is counted.
    expect([await isLong(8, { workspaceId, from: T0 }), await isLong(9, { workspaceId, from: T0 })]).toEqual([true, false])
    expect([await isLong(5, { workspaceId: null, userId: 'user-1' }), await isLong(6, { workspaceId: null, userId: 'user-1' })]).toEqual([
      true,
      false,
    ])
    // A workspace's own total is kept up to date, wherever the page begins; entries before a page are skipped by number.
    expect(await isLong(1, { workspaceId })).toBe(false)
    expect(await isLong(1, { workspaceId, after: { createdAt: T1, id: '' } })).toBe(false)
    expect([await isLong(3, { workspaceId }, 3), await isLong(3, { workspaceId }, 4)]).toEqual([false, true])
    const behind = await log.list({ workspaceId, after: { createdAt: T1, id: '' }, offset: 0, limit: 100 })
    expect({ total: behind.totalCount, shown: behind.items.length }).toEqual({ total: 9, shown: 3 })
  })

  test('a key and a preset tell what they were and became, without digests', async () => {
    const { workspaceId, keys, log, store, create } = await prepare()
    const key = keyRecord({
      hash: 'a'.repeat(64),
      digest: 'd'.repeat(64),
      label: 'pb_inf_…wxyz',
      workspaceId,
      limitNanos: 5_000_000_000,
      limitReset: 'monthly',
    })
    await keys.insert(key, changedBy())
    await keys.update(workspaceId, key.hash, { limitNanos: null, rpmLimit: 60 }, changeAt(T1))
    await keys.update('another', key.hash, { limitNanos: 1 }, changeAt(T1))
    await keys.revoke(workspaceId, key.hash, changeAt(T2))
    await create('bot')
    await store.patch({ workspaceId, slug: 'bot' }, { status: 'disabled' }, changeAt(T1))
    await store.patch({ workspaceId, slug: 'bot' }, { designated_version: 9 }, changeAt(T1))
    const { items } = await log.list({ workspaceId, offset: 0, limit: 10 })
    const reported = items.map(({ action, objectType, before, after }) => ({ action, objectType, before, after }))
    expect(reported).toHaveLength(5)
    const updated = reported.find(({ action, objectType }) => action === 'updated' && objectType === 'api_key')
    expect(updated).toMatchObject({ before: { limit: 5, rpm_limit: null }, after: { limit: null, rpm_limit: 60 } })
    expect(reported.find(({ action }) => action === 'revoked')).toMatchObject({ before: { limit: null }, after: null })
    expect(reported.find(({ action, objectType }) => action === 'updated' && objectType === 'preset')).toMatchObject({
      before: { status: 'active' },
      after: { status: 'disabled' },
    })
    expect(JSON.stringify(items)).not.toContain(key.digest)
  })
})
