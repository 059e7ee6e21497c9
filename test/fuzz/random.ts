/** Chance that can be repeated. */
import { seeded } from '../support/seeded.ts'

/** The seed, the target's name and the number of the input give the input. */
export interface Random {
  /** From 0 to `below` - 1. */
  int(below: number): number
  chance(share: number): boolean
  pick<Item>(items: readonly [Item, ...Item[]]): Item
  bytes(length: number): Uint8Array
}

export const createRandom = (seed: number, target: string, number: number): Random => {
  const next = seeded((seed ^ Bun.hash.crc32(`${target}:${number}`)) >>> 0)
  const int = (below: number): number => Math.floor(next() * below)
  return {
    int,
    chance: (share) => next() < share,
    pick: (items) => items[int(items.length)] ?? items[0],
    bytes: (length) => Uint8Array.from({ length }, () => int(256)),
  }
}

/** Mostly short; some so long that whatever is not linear shows, a few as long as large requests are. */
const lengthOf = ({ int, chance }: Random, usual: number, large: number): number => {
  if (!chance(0.02)) return int(usual)
  return int(chance(0.1) ? large * 10 : large)
}

/** Words of the grammar in any order, one word many times, or both. */
export const soup = (random: Random, words: readonly [string, ...string[]], usual = 24, large = 4000): string => {
  const length = lengthOf(random, usual, large)
  if (random.chance(0.1)) return random.pick(words).repeat(length) + random.pick(words)
  let text = ''
  for (let at = 0; at < length; at += 1) text += random.pick(words)
  return text
}

/** A few bytes changed, lost, doubled, or a piece of it said again elsewhere. */
export const mutate = (random: Random, bytes: Uint8Array): Uint8Array => {
  let out = Buffer.from(bytes)
  for (let change = random.int(6); change >= 0 && out.length > 0; change -= 1) {
    const [at, length] = [random.int(out.length), random.int(40)]
    const [head, tail] = [out.subarray(0, at), out.subarray(at)]
    const made = [
      () => Buffer.concat([head, tail.subarray(length)]),
      () => Buffer.concat([head, random.bytes(length), tail]),
      () => Buffer.concat([head, tail.subarray(0, length), tail]),
      () => head,
      () => {
        const copy = Buffer.from(out)
        copy[at] = random.int(256)
        return copy
      },
      () =>
        Buffer.concat([
          head,
          Buffer.from(random.pick(['"', '{', '}', '\\', '\n', '\r\n\r\n', 'null', '[', '-1e999', '\u0000', '\ufeff', '😀'])),
          tail,
        ]),
    ]
    out = (made[random.int(made.length)] ?? made[0]!)()
  }
  return out
}

/** The part of a large input that is read at once is a step of its own, and there are not endlessly many. */
const PIECES_MAX = 400

/** The same bytes in pieces of chance's size, often of one. */
export const piecesOf = (random: Random, bytes: Uint8Array): Uint8Array[] => {
  const pieces: Uint8Array[] = []
  const least = Math.ceil(bytes.length / PIECES_MAX)
  const largest = random.pick([1, 3, 20, 500])
  for (let at = 0; at < bytes.length;) {
    const size = Math.max(least, 1 + random.int(largest))
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}
