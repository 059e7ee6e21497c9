/**
 * Finds whether zstd data end with a frame (RFC 8878, 3.1), since the runtime's decoder takes data that end early for whole. Only sizes
 * are read; the decoder itself refuses what is malformed.
 */

/** Passes the pieces on. Throws at the end if the last frame has not ended. */
export const throughLastFrame = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = watchFrames()
  for await (const piece of source) {
    frames.see(piece)
    yield piece
  }
  if (!frames.haveEnded()) throw new Error('The data end within a frame.')
}

/** A field of fixed length; `read` takes its bytes as a number, the first one the least, and says what follows. */
interface Field {
  readonly length: number
  readonly read: (value: number) => Next
}

/** `skip`: bytes before the next field. Null: the data are no zstd. */
type Next = { readonly skip: number; readonly field: Field } | null

const watchFrames = () => {
  let field: Field | null = MAGIC
  let skip = 0
  let read = 0
  let value = 0
  return {
    see(piece: Uint8Array): void {
      let at = 0
      while (field !== null && at < piece.length) {
        if (skip > 0) {
          const passed = Math.min(skip, piece.length - at)
          skip -= passed
          at += passed
          continue
        }
        value += (piece[at] ?? 0) * 2 ** (8 * read)
        at += 1
        read += 1
        if (read < field.length) continue
        const next = field.read(value)
        field = next?.field ?? null
        skip = next?.skip ?? 0
        read = 0
        value = 0
      }
    },
    haveEnded: () => field === null || (field === MAGIC && read === 0 && skip === 0),
  }
}

const MAGIC: Field = {
  length: 4,
  read(magic) {
    if (magic === 0xfd2fb528) return { skip: 0, field: DESCRIPTOR }
    return magic >= 0x184d2a50 && magic <= 0x184d2a5f ? { skip: 0, field: SKIPPABLE } : null
  },
}

const SKIPPABLE: Field = { length: 4, read: (size) => ({ skip: size, field: MAGIC }) }

/** The descriptor of a frame says how long the rest of its header is, and whether a checksum ends it. */
const DESCRIPTOR: Field = {
  length: 1,
  read(descriptor) {
    const isSingle = (descriptor & 0x20) !== 0
    const contentSize = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
    const dictionaryId = [0, 1, 2, 4][descriptor & 3] ?? 0
    const hasChecksum = (descriptor & 4) !== 0
    return { skip: (isSingle ? 0 : 1) + dictionaryId + contentSize, field: hasChecksum ? BLOCK_BEFORE_CHECKSUM : BLOCK }
  },
}

/** A block that repeats one byte holds only that byte. */
const blockOf = (checksum: number): Field => {
  const block: Field = {
    length: 3,
    read(header) {
      const size = ((header >> 1) & 3) === 1 ? 1 : header >> 3
      return (header & 1) === 0 ? { skip: size, field: block } : { skip: size + checksum, field: MAGIC }
    },
  }
  return block
}

const BLOCK = blockOf(0)
const BLOCK_BEFORE_CHECKSUM = blockOf(4)
