import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFakeClock, T0 } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import { FILE_BYTES_MAX } from '../contract/file-name.ts'
import { type Clock, isoTimestamp, systemClock } from '../lib/clock.ts'
import { type FileStore, PIECE_BYTES, type StoredFile } from '../storage/files/file-store.ts'
import { createFiles } from './files.ts'
import { rejection } from '../storage/testing/rejection.ts'

/** A store that keeps and deletes files as the real one does; with `sizesOnly` it keeps no bytes. */
const memoryStore = ({ sizesOnly = false } = {}) => {
  const portions: number[] = []
  const discarded: string[] = []
  let pieces: Uint8Array[] = []
  const store: FileStore = {
    begin: async () => true,
    async append(_, position, added) {
      expect(position).toBe(portions.reduce((sum, count) => sum + count, 0))
      portions.push(added.length)
      if (!sizesOnly) pieces.push(...added.map((piece) => piece.slice()))
      return 'kept'
    },
    complete: async () => true,
    async discard(id) {
      discarded.push(id)
      pieces = []
    },
    list: async () => [],
    get: async () => null,
    newestNamed: async () => null,
    pieces: async (_, position, count) => pieces.slice(position, position + count),
    delete: async () => true,
    deleteLeftOver: async () => 0,
  }
  return { store, portions, discarded, stored: () => pieces }
}

const filesOn = (store: FileStore, clock: Clock = createFakeClock()) =>
  createFiles({ store, workspaceBytes: 1, clock, ids: createFakeIds() })

const NEW = { filename: 'a.bin', mimeType: 'application/octet-stream' }
const BY = { requestId: 'req-1', userId: null, keyHash: null }

describe('a file', () => {
  test('is stored in pieces of one size, a few at once, however its bytes arrive, and is read back as it was', async () => {
    const sizes = fc.array(
      fc.oneof(fc.nat(200), fc.constantFrom(0, 1, PIECE_BYTES, PIECE_BYTES - 1, 5 * PIECE_BYTES + 7, 40 * PIECE_BYTES)),
      {
        maxLength: 8,
      },
    )
    await fc.assert(
      fc.asyncProperty(sizes, async (lengths) => {
        const arriving = lengths.map((length, index) => new Uint8Array(length).fill(index + 1))
        const whole = Buffer.concat(arriving)
        const { store, portions, stored } = memoryStore()
        const files = filesOn(store, systemClock)
        const file = await files.keep(await files.receive('ws', NEW, arriving), BY)
        expect(file.sizeBytes).toBe(whole.length)
        expect(stored().map(({ length }) => length)).toEqual(
          Array.from({ length: Math.ceil(whole.length / PIECE_BYTES) }, (_, at) => Math.min(PIECE_BYTES, whole.length - at * PIECE_BYTES)),
        )
        expect(Math.max(0, ...portions)).toBeLessThanOrEqual(16)
        expect(Buffer.concat(await Array.fromAsync(files.read(file))).equals(whole)).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  test('of 100 MiB is taken, and one byte more is not: nothing of it stays', async () => {
    const mebibyte = new Uint8Array(1024 * 1024)
    const more = [...Array.from({ length: FILE_BYTES_MAX / mebibyte.length }, () => mebibyte), new Uint8Array(1)]
    const { store, portions, discarded } = memoryStore({ sizesOnly: true })
    expect(await rejection(filesOn(store).receive('ws', NEW, more))).toMatchObject({ type: 'payload_too_large', status: 413 })
    expect(portions.reduce((sum, count) => sum + count, 0) * PIECE_BYTES).toBe(FILE_BYTES_MAX)
    expect(discarded).toHaveLength(1)
  })

  test('whose bytes stop with a failure is forgotten, and so is one that cannot be shown', async () => {
    const { store, discarded } = memoryStore()
    const files = filesOn({ ...store, complete: () => Promise.reject(new Error('away')) })
    const breaking = async function* (): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(PIECE_BYTES * 20)
      throw new Error('The client is gone.')
    }
    expect(String(await rejection(files.receive('ws', NEW, breaking())))).toContain('The client is gone.')
    const received = await files.receive('ws', NEW, [])
    expect(String(await rejection(files.keep(received, BY)))).toContain('away')
    expect(discarded).toHaveLength(2)
    expect(discarded[1]).toBe(received.file.id)
  })

  test('is as new as its end, so that a page that was read meanwhile does not leave it out for good', async () => {
    const clock = createFakeClock()
    const files = filesOn(memoryStore().store, clock)
    const received = await files.receive('ws', NEW, [])
    clock.advance(60_000)
    expect((await files.keep(received, BY)).createdAt).toBe(isoTimestamp(T0 + 60_000))
  })

  test('that is four times as long gives others more turns while it is read', async () => {
    const turnsFor = async (pieces: number): Promise<number> => {
      let turns = 0
      const clock: Clock = {
        ...systemClock,
        after(_, task) {
          turns += 1
          return systemClock.after(0, task)
        },
      }
      const files = filesOn(memoryStore().store, clock)
      const { file } = await files.receive('ws', NEW, [new Uint8Array(PIECE_BYTES * pieces)])
      for await (const _ of files.read(file));
      return turns
    }
    expect(await turnsFor(32)).toBe(0)
    expect(await turnsFor(100)).toBe(3)
    expect(await turnsFor(400)).toBe(12)
  })

  test('that is deleted while it is read ends as a failure, never as a shorter file', async () => {
    const { store } = memoryStore()
    const files = filesOn(store)
    const received = await files.receive('ws', NEW, [new Uint8Array(PIECE_BYTES * 9)])
    const read = async (): Promise<void> => {
      for await (const _ of files.read(received.file)) await files.discard(received)
    }
    expect(await rejection(read())).toMatchObject({ type: 'not_found' })
  })

  test.each(['full', 'gone'] as const)('that storage calls %s is refused', async (outcome) => {
    const { store, discarded } = memoryStore()
    const files = filesOn({ ...store, append: async () => outcome })
    expect(await rejection(files.receive('ws', NEW, [new Uint8Array(1)]))).toMatchObject({ status: outcome === 'full' ? 413 : 404 })
    expect(discarded).toHaveLength(1)
    const crowded = filesOn({ ...store, begin: async () => false })
    expect(await rejection(crowded.receive('ws', NEW, []))).toMatchObject({ status: 413, metadata: { reason: 'workspace_files_full' } })
  })
})

test('a page says whether more files follow', async () => {
  const all: StoredFile[] = ['a', 'b', 'c'].map((id) => ({
    id,
    workspaceId: 'ws',
    filename: id,
    mimeType: 'text/plain',
    sizeBytes: 0,
    createdAt: '2026-11-20T10:00:00.000Z',
  }))
  const files = filesOn({ ...memoryStore().store, list: async ({ limit }) => all.slice(0, limit) })
  expect(await files.list('ws', { limit: 2 })).toEqual({ items: all.slice(0, 2), hasMore: true })
  expect(await files.list('ws', { limit: 3 })).toEqual({ items: all, hasMore: false })
})
