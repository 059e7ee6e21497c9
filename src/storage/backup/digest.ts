/**
 * The digest at the end of a backup. SQLite finds damage to the structure of a file, but not to a text or an amount in it
 * (decisions/0292). It reads only whole pages, so what follows the last one does not disturb it.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, fstatSync, openSync, readSync, truncateSync } from 'node:fs'

const MARK = '\npatchbay backup sha256 '
const LENGTH = MARK.length + 64 + 1
/** The pages of every SQLite file are a multiple of this. */
const PAGE_BYTES_MIN = 512
const PIECE_BYTES = 1024 * 1024

export const appendDigest = (path: string): void => appendFileSync(path, ending(digestOf(path, 0)))

/** Removes the digest. Returns false if the file does not fit it; a file without one, such as a copy made by SQLite's own tools, fits. */
export const takeDigest = (path: string): boolean => {
  const written = lastBytes(path, LENGTH)
  // If as many bytes as a digest has stand behind the last page, its own first bytes are damaged.
  if (!written.startsWith(MARK)) return sizeOf(path) % PAGE_BYTES_MIN !== LENGTH
  const fits = written === ending(digestOf(path, LENGTH))
  truncateSync(path, sizeOf(path) - LENGTH)
  return fits
}

const ending = (digest: string): string => `${MARK}${digest}\n`

/** The digest of all bytes but the last `without`. */
const digestOf = (path: string, without: number): string =>
  reading(path, (file, size) => {
    const hash = createHash('sha256')
    const piece = Buffer.alloc(PIECE_BYTES)
    for (let at = 0; at < size - without;) {
      const read = readSync(file, piece, 0, Math.min(PIECE_BYTES, size - without - at), at)
      if (read === 0) break
      hash.update(piece.subarray(0, read))
      at += read
    }
    return hash.digest('hex')
  })

const lastBytes = (path: string, length: number): string =>
  reading(path, (file, size) => {
    const bytes = Buffer.alloc(Math.min(length, size))
    readSync(file, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString('latin1')
  })

const sizeOf = (path: string): number => reading(path, (_, size) => size)

const reading = <Result>(path: string, read: (file: number, size: number) => Result): Result => {
  const file = openSync(path, 'r')
  try {
    return read(file, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}
