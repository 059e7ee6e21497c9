import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine, type TestEngine } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import type { Database } from '../database.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { createFileStore, type FileStore, PIECE_BYTES, type StoredFile } from './file-store.ts'
import { preparePresets, T0, T1, T2 } from '../testing/preset-input.ts'
import { createWorkspaceStore } from '../workspaces/workspace-store.ts'
import { DEFAULT_SETTINGS } from '../../contract/workspace-settings.ts'
import { rejection } from '../testing/rejection.ts'

const ROOMY = { bytes: 10_000_000, files: 100 }

const prepare = async (engine: TestEngine, clock: Clock = systemClock) => {
  const database = await engine.open()
  const { workspaceId } = await preparePresets(database)
  const file = (id: string, more: Partial<StoredFile> = {}): StoredFile => ({
    id,
    workspaceId,
    filename: `${id}.txt`,
    mimeType: 'text/plain',
    sizeBytes: 0,
    createdAt: T0,
    ...more,
  })
  return { database, store: createFileStore(database, testSeal, clock), workspaceId, file }
}

const bytesOf = (size: number, fill: number): Uint8Array => new Uint8Array(size).fill(fill)

/** Stores a whole file. */
const put = async (store: FileStore, file: StoredFile, pieces: readonly Uint8Array[]): Promise<void> => {
  expect(await store.begin(file, ROOMY)).toBe(true)
  expect(await store.append(file, 0, pieces, ROOMY)).toBe('kept')
  expect(await store.complete(file, changedBy())).toBe(true)
}

const piecesLeft = async ({ kysely }: Database): Promise<number> =>
  (await kysely.selectFrom('file_pieces').select('position').execute()).length

describeEachEngine('files', (engine) => {
  test('come back byte for byte, and nothing of them stands in the table as it is', async () => {
    const { database, store, workspaceId, file } = await prepare(engine)
    const secret = new TextEncoder().encode('the secret recipe')
    await put(store, file('f-1', { sizeBytes: secret.length }), [bytesOf(PIECE_BYTES, 0), secret])
    expect(await store.get(workspaceId, 'f-1')).toEqual(file('f-1', { sizeBytes: PIECE_BYTES + secret.length }))
    expect(await store.pieces('f-1', 0, 1)).toEqual([Buffer.from(bytesOf(PIECE_BYTES, 0))])
    expect(await store.pieces('f-1', 1, 5)).toEqual([Buffer.from(secret)])
    expect(await store.pieces('f-1', 2, 5)).toEqual([])
    const rows = await database.kysely.selectFrom('file_pieces').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(Buffer.from('secret recipe').toString('base64').slice(0, 12))
    expect(JSON.stringify(rows)).not.toContain('secret recipe')
  })

  test('fill the room of their own workspace alone, and of a workspace that is gone they fill none', async () => {
    const { database, store, workspaceId, file } = await prepare(engine)
    const record = { name: 'w', description: null, createdAt: T0, createdBy: 'owner', updatedAt: T0, settings: DEFAULT_SETTINGS }
    const workspaces = createWorkspaceStore(database)
    await workspaces.create({ ...record, id: 'w-1', slug: 'w-1' }, 'm-1', changedBy())
    await put(store, file('own'), [bytesOf(100, 1)])
    const other = file('other', { workspaceId: 'w-1' })
    const bounds = { bytes: 100, files: 1 }
    expect([await store.begin(other, bounds), await store.append(other, 0, [bytesOf(100, 1)], bounds)]).toEqual([true, 'kept'])
    expect(await store.append(other, 1, [bytesOf(1, 1)], bounds)).toBe('full')
    expect(await store.begin(file('second'), bounds)).toBe(false)
    await database.transaction(async (transaction) => {
      await transaction.updateTable('workspaces').set({ deleted_at: T1 }).where('id', '=', 'w-1').execute()
    })
    expect(await store.append(other, 1, [bytesOf(1, 1)], ROOMY)).toBe('gone')
    expect(await store.get(workspaceId, 'own')).toMatchObject({ sizeBytes: 100 })
  })

  test('that still arrive are not left over, however long ago they began; of two of one time the last one is the newest', async () => {
    const { store, workspaceId, file } = await prepare(engine)
    for (const id of ['f-1', 'f-2', 'f-3']) await store.begin(file(id, { filename: 'a.txt' }), ROOMY)
    await store.append(file('f-1', { createdAt: T2 }), 0, [bytesOf(1, 1)], ROOMY)
    await store.deleteLeftOver(T1, 10)
    expect(await store.append(file('f-1', { createdAt: T2 }), 1, [bytesOf(1, 1)], ROOMY)).toBe('kept')
    expect(await store.append(file('f-2', { createdAt: T2 }), 0, [bytesOf(1, 1)], ROOMY)).toBe('gone')
    for (const id of ['f-5', 'f-6', 'f-4']) await put(store, file(id, { filename: 'b.txt' }), [bytesOf(1, 1)])
    expect((await store.newestNamed(workspaceId, 'b.txt'))?.id).toBe('f-6')
  })

  test('a long one is forgotten in portions, between which others get their turn', async () => {
    let turns = 0
    const clock: Clock = {
      ...systemClock,
      after(_, task) {
        turns += 1
        return systemClock.after(0, task)
      },
    }
    const { database, store, file } = await prepare(engine, clock)
    expect(await store.begin(file('f-1'), ROOMY)).toBe(true)
    const portion = Array.from({ length: 100 }, () => bytesOf(1, 1))
    for (let position = 0; position < 400; position += 100) await store.append(file('f-1'), position, portion, ROOMY)
    await store.discard('f-1')
    expect(await piecesLeft(database)).toBe(0)
    expect(turns).toBe(3)
  })

  test('a piece that was moved to another place does not open', async () => {
    const { database, store, file } = await prepare(engine)
    await put(store, file('f-1'), [bytesOf(1, 1), bytesOf(1, 2)])
    await database.kysely.deleteFrom('file_pieces').where('position', '=', 0).execute()
    await database.kysely.updateTable('file_pieces').set({ position: 0 }).execute()
    expect(await rejection(store.pieces('f-1', 0, 1))).toBeInstanceOf(Error)
  })

  test('are nowhere to be seen before they are complete, and then in the order of that', async () => {
    const { store, workspaceId, file } = await prepare(engine)
    await store.begin(file('f-1'), ROOMY)
    await put(store, file('f-2', { createdAt: T1 }), [bytesOf(1, 1)])
    expect(await store.get(workspaceId, 'f-1')).toBeNull()
    expect(await store.newestNamed(workspaceId, 'f-1.txt')).toBeNull()
    expect(await store.list({ workspaceId, limit: 9 })).toEqual([file('f-2', { createdAt: T1, sizeBytes: 1 })])
    await store.complete(file('f-1', { createdAt: T2 }), changedBy())
    expect((await store.list({ workspaceId, limit: 9 })).map(({ id }) => id)).toEqual(['f-2', 'f-1'])
    expect(await store.complete(file('f-1'), changedBy())).toBe(false)
    expect(await store.append(file('f-1'), 1, [bytesOf(1, 1)], ROOMY)).toBe('gone')
  })

  test('are listed by pages and by a part of the name, in which no sign has a meaning of its own', async () => {
    const { store, workspaceId, file } = await prepare(engine)
    for (const [id, filename] of [
      ['f-1', 'Notes_1.txt'],
      ['f-2', 'NOTES%.md'],
      ['f-3', 'other'],
    ] as const) {
      await put(store, file(id, { filename }), [bytesOf(1, 1)])
    }
    const named = async (part: string): Promise<readonly string[]> =>
      (await store.list({ workspaceId, named: part, limit: 9 })).map(({ id }) => id)
    expect(await named('notes')).toEqual(['f-1', 'f-2'])
    expect([await named('_'), await named('%'), await named('\\')]).toEqual([['f-1'], ['f-2'], []])
    const behind = await store.list({ workspaceId, after: { createdAt: T0, id: 'f-1' }, limit: 1 })
    expect(behind.map(({ id }) => id)).toEqual(['f-2'])
    expect(await store.list({ workspaceId: 'another', limit: 9 })).toEqual([])
    expect([await store.get('another', 'f-1'), (await store.get(null, 'f-1'))?.id]).toEqual([null, 'f-1'])
  })

  test('fill their workspace to the byte and no further, also where many come at once and none is complete', async () => {
    const { database, store, workspaceId, file } = await prepare(engine)
    const bounds = { bytes: 10, files: 8 }
    const files = Array.from({ length: 8 }, (_, index) => file(`f-${index}`))
    for (const one of files) expect(await store.begin(one, bounds)).toBe(true)
    expect(await store.begin(file('f-9'), bounds)).toBe(false)
    const outcomes = await Promise.all(files.map((one) => store.append(one, 0, [bytesOf(3, 1)], bounds)))
    expect(outcomes.filter((outcome) => outcome === 'kept')).toHaveLength(3)
    expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(5)
    const kept = files.find((_, index) => outcomes[index] === 'kept') ?? file('none')
    expect(await store.append(kept, 1, [bytesOf(1, 1)], bounds)).toBe('kept')
    await store.discard(kept.id)
    expect(await piecesLeft(database)).toBe(2)
    const other = files.find(({ id }, index) => outcomes[index] === 'full' && id !== kept.id) ?? file('none')
    expect(await store.append(other, 0, [bytesOf(4, 1)], bounds)).toBe('kept')
    expect(await store.list({ workspaceId, limit: 9 })).toEqual([])
  })

  test('are found by their name and id in their own workspace alone, the newest of a name first', async () => {
    const { store, workspaceId, file } = await prepare(engine)
    for (const [id, createdAt] of [
      ['f-1', T0],
      ['f-2', T1],
    ] as const)
      await put(store, file(id, { filename: 'same.txt', createdAt }), [bytesOf(1, 1)])
    expect((await store.newestNamed(workspaceId, 'same.txt'))?.id).toBe('f-2')
    expect(await store.newestNamed(workspaceId, 'Same.txt')).toBeNull()
    expect(await store.newestNamed('other', 'same.txt')).toBeNull()
    expect([await store.get('other', 'f-1'), await store.list({ workspaceId: 'other', limit: 10 })]).toEqual([null, []])
    expect((await store.get(null, 'f-1'))?.id).toBe('f-1')
  })

  test('are deleted with all their pieces, once, and not by a discard', async () => {
    const { database, store, workspaceId, file } = await prepare(engine)
    await put(
      store,
      file('f-1'),
      Array.from({ length: 300 }, () => bytesOf(1, 1)),
    )
    await put(store, file('f-2'), [bytesOf(1, 1)])
    await store.discard('f-none')
    await store.discard('f-1')
    await store.discard('f-2')
    expect(await piecesLeft(database)).toBe(301)
    const found = await store.get(workspaceId, 'f-1')
    expect(found?.sizeBytes).toBe(300)
    expect(await store.delete(file('f-1'), changeAt(T1))).toBe(true)
    expect(await store.delete(file('f-1'), changeAt(T1))).toBe(false)
    expect([await store.get(workspaceId, 'f-1'), await piecesLeft(database)]).toEqual([null, 1])
  })

  test('those that did not come whole, and those of a workspace that is gone, are swept away; the others stay', async () => {
    const { database, store, workspaceId, file } = await prepare(engine)
    const workspaces = createWorkspaceStore(database)
    const settings = (await workspaces.get(workspaceId))?.settings
    if (settings === undefined) throw new Error('The default workspace is gone.')
    const gone = { id: 'w-2', slug: 'gone', name: 'x', description: null, createdAt: T0, createdBy: 'user-1', updatedAt: T0, settings }
    expect(await workspaces.create(gone, 'm-1', changedBy())).toBe(true)
    await put(store, file('f-1', { workspaceId: 'w-2' }), [bytesOf(1, 1)])
    await put(store, file('f-2'), [bytesOf(1, 1)])
    for (const [id, createdAt] of [
      ['f-3', T0],
      ['f-4', T2],
    ] as const) {
      await store.begin(file(id, { createdAt }), ROOMY)
      await store.append(file(id, { createdAt }), 0, [bytesOf(1, 1)], ROOMY)
    }
    expect(await workspaces.delete('w-2', changeAt(T1))).toBe('deleted')
    expect(await store.get(null, 'f-1')).toBeNull()
    expect(await store.begin(file('f-5', { workspaceId: 'w-2' }), ROOMY)).toBe(false)
    for (let left = 9; left === 9;) left = await store.deleteLeftOver(T1, 9)
    const kept = await database.kysely.selectFrom('file_pieces').select('file_id').orderBy('file_id').execute()
    expect(kept.map(({ file_id }) => file_id)).toEqual(['f-2', 'f-4'])
  })
})
