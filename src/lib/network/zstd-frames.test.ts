import { zstdCompressSync } from 'node:zlib'

import { expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { throughLastFrame } from './zstd-frames.ts'

const passes = async (pieces: readonly Uint8Array[]): Promise<boolean> => {
  const source = async function* (): AsyncGenerator<Uint8Array> {
    yield* pieces
  }
  try {
    return Buffer.concat(await Array.fromAsync(throughLastFrame(source()))).equals(Buffer.concat(pieces))
  } catch {
    return false
  }
}

/** Data with every member of a frame's header: a window or a content size of each length, a dictionary, a checksum, blocks of each type. */
const FRAME = fc
  .record({
    sizeFlag: fc.integer({ min: 0, max: 3 }),
    isSingle: fc.boolean(),
    hasChecksum: fc.boolean(),
    dictionary: fc.integer({ min: 0, max: 3 }),
    blocks: fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 70_000 })), { minLength: 1, maxLength: 4 }),
  })
  .map(({ sizeFlag, isSingle, hasChecksum, dictionary, blocks }) => {
    const header = (isSingle ? 0 : 1) + ([0, 1, 2, 4][dictionary] ?? 0) + ([isSingle ? 1 : 0, 2, 4, 8][sizeFlag] ?? 0)
    const descriptor = (sizeFlag << 6) | (isSingle ? 0x20 : 0) | (hasChecksum ? 4 : 0) | dictionary
    return Buffer.concat([
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, descriptor]),
      Buffer.alloc(header, 0x28),
      ...blocks.flatMap(([type, size], at) => {
        const head = (size << 3) | (type << 1) | (at === blocks.length - 1 ? 1 : 0)
        return [Buffer.from([head & 0xff, (head >> 8) & 0xff, head >> 16]), Buffer.alloc(type === 1 ? 1 : size, 0xb5)]
      }),
      Buffer.alloc(hasChecksum ? 4 : 0, 0x2f),
    ])
  })

const SKIPPABLE = fc
  .integer({ min: 0, max: 300 })
  .map((size) => Buffer.concat([Buffer.from([0x5a, 0x2a, 0x4d, 0x18, size & 0xff, size >> 8, 0, 0]), Buffer.alloc(size, 0x28)]))

test('frames that end pass, and data that end anywhere within one do not, in whatever pieces they come', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(FRAME, SKIPPABLE), { minLength: 1, maxLength: 3 }),
      fc.nat(),
      fc.nat(),
      async (frames, lost, split) => {
        const last = frames.at(-1) ?? Buffer.alloc(0)
        const whole = Buffer.concat(frames)
        const at = split % whole.length
        expect(await passes([whole.subarray(0, at), whole.subarray(at)])).toBe(true)
        const cut = whole.subarray(0, whole.length - 1 - (lost % (last.length - 1)))
        expect(await passes([cut.subarray(0, at), cut.subarray(at)])).toBe(false)
      },
    ),
  )
})

test('what is no zstd is left to the decoder', async () => {
  expect(await passes([Buffer.from('{"a":1}')])).toBe(true)
  expect(await passes([zstdCompressSync('{}'), Buffer.from('behind the end')])).toBe(true)
})
