import { expect, test } from 'bun:test'

import { paced } from './paced.ts'

const PIECE = Buffer.alloc(64 * 1024)

async function* pieces(count: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at += 1) yield PIECE
}

/** Returns the number of pauses and the number of pieces. */
const read = async (count: number) => {
  let pauses = 0
  let bytes = 0
  const clock = {
    after(_: number, run: () => void) {
      pauses += 1
      run()
      return () => {}
    },
  }
  for await (const piece of paced(pieces(count), clock)) bytes += piece.length
  return { pauses, pieces: bytes / PIECE.length }
}

test('an output of eight mebibytes is read at once, and a flood piece by piece with pauses, all of it', async () => {
  expect(await read(128)).toEqual({ pauses: 0, pieces: 128 })
  expect(await read(1000)).toEqual({ pauses: 872, pieces: 1000 })
})
