import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { rejection } from '../../storage/testing/rejection.ts'
import { fileStream } from './file-stream.ts'

const UNREAD_MS = 60_000

const open = (broken?: Error) => {
  const clock = createFakeClock()
  const faults: unknown[] = []
  const file = { read: 0, closed: false }
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (; file.read < 5; file.read += 1) {
        if (broken !== undefined && file.read === 3) throw broken
        yield new Uint8Array([file.read])
      }
    } finally {
      file.closed = true
    }
  }
  const body = fileStream(pieces(), { clock, unreadMs: UNREAD_MS, onError: (thrown) => faults.push(thrown) })
  return { clock, faults, file, reader: body.getReader() }
}

test('a file arrives whole; then nothing waits any more', async () => {
  const { clock, file, reader, faults } = open()
  const read: number[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    read.push(...value)
  }
  expect([read, file.closed, clock.waiting, faults]).toEqual([[0, 1, 2, 3, 4], true, 0, []])
})

test('a file that cannot be read on breaks the answer, which would otherwise be taken for the whole', async () => {
  const broken = new Error('The disk is gone.')
  const { clock, reader, faults } = open(broken)
  for (let at = 0; at < 3; at += 1) await reader.read()
  expect(await rejection(reader.read())).toBe(broken)
  expect([faults, clock.waiting]).toEqual([[broken], 0])
})

test('a reader that leaves closes the file', async () => {
  const { clock, file, reader } = open()
  await reader.read()
  await reader.cancel()
  expect([file.closed, clock.waiting]).toEqual([true, 0])
})

test('a reader is given up a minute after it took something last, and its file is closed', async () => {
  const { clock, file, reader, faults } = open()
  for (let at = 0; at < 3; at += 1) {
    await reader.read()
    clock.advance(UNREAD_MS - 1)
  }
  expect(file.closed).toBe(false)
  clock.advance(1)
  await turn()
  expect([file.closed, faults]).toEqual([true, []])
  expect(String(await rejection(reader.read()))).toContain('was not read')
})
