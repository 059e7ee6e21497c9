import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { systemClock } from '../lib/clock.ts'
import { createLineBuffer } from './line-buffer.ts'

const directory = mkdtempSync(join(tmpdir(), 'patchbay-lines-'))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
const open = (): { path: string; descriptor: number } => {
  const path = join(directory, String((files += 1)))
  return { path, descriptor: openSync(path, 'w') }
}

test('lines come in order, at the latest when the buffer is flushed', async () => {
  const { path, descriptor } = open()
  const buffer = createLineBuffer(descriptor, createFakeClock())
  for (let line = 0; line < 1000; line += 1) buffer.write(`${line}\n`)
  expect(readFileSync(path, 'utf8')).toBe('')
  await buffer.flush()
  expect(readFileSync(path, 'utf8')).toBe(Array.from({ length: 1000 }, (_, line) => `${line}\n`).join(''))
  closeSync(descriptor)
})

test('lines are written in the background without being asked for', async () => {
  const { path, descriptor } = open()
  createLineBuffer(descriptor, systemClock).write('one\n')
  const deadline = performance.now() + 5000
  while (readFileSync(path, 'utf8') === '' && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(readFileSync(path, 'utf8')).toBe('one\n')
  closeSync(descriptor)
})

test('a reader that takes nothing costs a bounded memory: further lines are dropped and counted', () => {
  const { descriptor } = open()
  const buffer = createLineBuffer(descriptor, createFakeClock())
  const line = 'x'.repeat(1024 * 1024)
  for (let count = 0; count < 12; count += 1) buffer.write(line)
  expect(buffer.dropped).toBe(3)
  closeSync(descriptor)
})

describe('the last lines', () => {
  const flushTo = (descriptor: number): Promise<void> => {
    const buffer = createLineBuffer(descriptor, createFakeClock())
    buffer.write('one\n')
    return buffer.flush()
  }

  test('are given up where the reader of a pipe is gone: the service stops as if they had been read', async () => {
    const path = join(directory, 'pipe')
    expect(spawnSync('mkfifo', [path]).status).toBe(0)
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(path, constants.O_WRONLY)
    closeSync(reader)
    expect(() => writeSync(writer, 'x')).toThrow('EPIPE')
    await flushTo(writer)
    closeSync(writer)
  })

  test('are given up where the terminal was closed', async () => {
    // A closed terminal answers with EIO; so does a write to an unmapped part of a process's memory.
    const descriptor = openSync('/proc/self/mem', 'r+')
    expect(() => writeSync(descriptor, 'x')).toThrow('EIO')
    await flushTo(descriptor)
    closeSync(descriptor)
  })

  test('are missed where it is another fault: a descriptor that is closed', async () => {
    const { descriptor } = open()
    closeSync(descriptor)
    expect(await flushTo(descriptor).catch((thrown: unknown) => thrown)).toMatchObject({ code: 'EBADF' })
  })
})
