/** Decompresses an answer piece by piece and stops at a limit, because a few compressed bytes may expand to very many. */
import type { Transform } from 'node:stream'

export type ContentCoding = 'gzip' | 'deflate' | 'br'

export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes'
}

export class TooManyPieces extends Error {
  override readonly name = 'TooManyPieces'
}

/** Each piece costs microseconds, however short it is, and a hostile server may send each byte by itself. */
const PIECES_MAX = 50_000

/** No real web server applies more codings than this. */
const CODINGS_MAX = 2

/**
 * The codings of a `content-encoding` header, in the order in which they were applied; null if one of them is unknown or there are too
 * many.
 */
export const readCodings = (header: string | undefined): readonly ContentCoding[] | null => {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  const codings = names.map((name) => CODINGS[name] ?? null)
  return codings.length > CODINGS_MAX || codings.includes(null) ? null : codings.filter((coding) => coding !== null)
}

const CODINGS: Readonly<Record<string, ContentCoding>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br' }

/**
 * At most `maxBytes` are read before, between and after the codings. Throws TooManyBytes, TooManyPieces, or the decoder's error if the
 * bytes are malformed.
 */
export const decodeBounded = async (
  source: AsyncIterable<Buffer>,
  codings: readonly ContentCoding[],
  maxBytes: number,
): Promise<Buffer> => {
  const decoded = codings.toReversed().reduce((from, coding) => decode(from, coding, maxBytes), bounded(source, maxBytes))
  const pieces: Buffer[] = []
  for await (const piece of decoded) pieces.push(piece)
  return Buffer.concat(pieces)
}

const bounded = async function* (source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  let pieces = 0
  for await (const piece of source) {
    bytes += piece.byteLength
    pieces += 1
    if (bytes > maxBytes) throw new TooManyBytes()
    if (pieces > PIECES_MAX) throw new TooManyPieces()
    yield piece
  }
}

const decode = async function* (source: AsyncIterable<Buffer>, coding: ContentCoding, maxBytes: number): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done === true) return
  // Loaded on first use: few answers come compressed.
  const { Readable } = process.getBuiltinModule('node:stream')
  const decoder = decoderOf(coding, first.value)
  const all = async function* (): AsyncGenerator<Buffer> {
    yield first.value
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
  }
  const input = Readable.from(all())
  input.on('error', (error) => decoder.destroy(error))
  input.pipe(decoder)
  try {
    yield* bounded(decoder as AsyncIterable<Buffer>, maxBytes)
  } finally {
    input.destroy()
    decoder.destroy()
  }
}

const decoderOf = (coding: ContentCoding, first: Buffer): Transform => {
  const zlib = process.getBuiltinModule('node:zlib')
  if (coding === 'br') return zlib.createBrotliDecompress()
  if (coding === 'gzip') return zlib.createGunzip()
  // The standard means zlib's header; some servers send raw deflate without it.
  return ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()
}
