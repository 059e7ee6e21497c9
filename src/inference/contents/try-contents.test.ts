import { expect, test } from 'bun:test'

import { systemClock } from '../../lib/clock.ts'
import { StorageUnavailable } from '../../storage/storage-errors.ts'
import { type Chosen, tryContents } from './try-contents.ts'

const chosen: Chosen = {
  lookedAt: 1,
  withContents: 1,
  chosen: [{ id: 'gen-1', workspaceId: 'w', createdAt: '2026-01-01T00:00:00.000Z', hasContent: true } as Chosen['chosen'][number]],
  leftOut: { too_large: 0, no_room: 0, gone: 0 },
}

const tried = (fault: Error) =>
  tryContents(chosen, null, {
    store: { get: () => Promise.reject(fault), sizesOf: () => Promise.resolve(new Map()) },
    limits: { clock: systemClock, screenMs: 1000 },
    largeStep: () => Promise.resolve(),
    signal: new AbortController().signal,
  })

test('a content that does not open is left out, and counted so', async () => {
  expect(await tried(new Error('The seal is broken.'))).toMatchObject({ tried: 0, left_out: { gone: 1 } })
})

test('a storage that is away ends the trial: nothing is reported as gone that is there', () => {
  expect(tried(new StorageUnavailable('The database is away.'))).rejects.toThrow(StorageUnavailable)
})
