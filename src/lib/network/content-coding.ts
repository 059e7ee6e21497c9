/** Decompresses bodies piece by piece and stops at a limit, because a few compressed bytes may expand to very many. */
import type { Transform } from 'node:stream'

import { throughLastFrame } from './zstd-frames.ts'

export type ContentCoding = 'gzip' | 'deflate' | 'br' | 'zstd'

export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes'
}

export class TooManyPieces extends Error {
  override readonly name = 'TooManyPieces'
}

/** Each piece costs microseconds, however short it is, and a hostile peer may send each byte by itself. */
const PIECES_MAX = 50_000

/** No real peer applies more codings than this. */
const CODINGS_MAX = 2

/**
 * The codings of a `content-encoding` header, in the order in which they were applied; null if one of them is unknown or there are too
 * many.
 */
export const readCodings = (header: string | null | undefined): readonly ContentCoding[] | null => {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  const codings = names.map((name) => CODINGS.get(name) ?? null)
  return codings.length > CODINGS_MAX || codings.includes(null) ? null : codings.filter((coding) => coding !== null)
}

const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
])

type Pieces = AsyncIterable<Uint8Array>

/**
 * The decoded pieces. At most `maxBytes` are read before, between and after the codings. Throws TooManyBytes, TooManyPieces, or the
 * decoder's error if the bytes are malformed.
 */
export const decodeBounded = (source: Pieces | Iterable<Uint8Array>, codings: readonly ContentCoding[], maxBytes: number): Pieces =>
  codings.toReversed().reduce<Pieces>((from, coding) => bounded(decode(from, coding), maxBytes), bounded(source, maxBytes))

/** The decoded pieces, for a reader that bounds what it keeps of them. Throws the decoder's error if the bytes are malformed. */
export const decodePieces = (source: Pieces, codings: readonly ContentCoding[]): Pieces => codings.toReversed().reduce(decode, source)

const bounded = async function* (source: Pieces | Iterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
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

const decode = async function* (source: Pieces, coding: ContentCoding): AsyncGenerator<Uint8Array> {
  const pieces = (coding === 'zstd' ? throughLastFrame(source) : source)[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done === true) return
  // Loaded on first use: few bodies come compressed.
  const { Readable } = process.getBuiltinModule('node:stream')
  const decoder = decoderOf(coding, first.value)
  const all = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
  }
  const input = Readable.from(all())
  input.on('error', (error) => decoder.destroy(error))
  input.pipe(decoder)
  try {
    yield* decoder as Pieces
  } finally {
    input.destroy()
    decoder.destroy()
  }
}

const decoderOf = (coding: ContentCoding, first: Uint8Array): Transform => {
  const zlib = process.getBuiltinModule('node:zlib')
  if (coding === 'br') return zlib.createBrotliDecompress(AT_ONCE)
  if (coding === 'gzip') return zlib.createGunzip(AT_ONCE)
  if (coding === 'zstd') return zlib.createZstdDecompress(AT_ONCE)
  // The standard means zlib's header; some servers send raw deflate without it.
  return ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(AT_ONCE) : zlib.createInflateRaw(AT_ONCE)
}

/** Each piece is a visit of another thread. */
const AT_ONCE = { chunkSize: 64 * 1024 }
