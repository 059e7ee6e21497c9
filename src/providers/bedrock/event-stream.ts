/**
 * The binary framing of AWS's streams: a prelude with the lengths of the message and of its headers and a checksum of
 * those, headers, payload, and a checksum of it all. Cut into messages here, whose contents AWS's own codec reads and checks.
 */
import type { EventStreamCodec } from '@smithy/core/event-streams'

export interface StreamMessage {
  readonly kind: 'event' | 'exception' | 'error'
  /** The name of the event or the exception, such as `contentBlockDelta`. */
  readonly name: string
  /** The payload: JSON text. */
  readonly text: string
}

export interface EventStream {
  /**
   * The messages that `chunk` completes. Throws EventStreamError where one is faulty or over the limit, behind those
   * before it; the stream is of no further use then.
   */
  read(chunk: Uint8Array): Generator<StreamMessage, void, undefined>
}

/** The bytes are no event stream, damaged, or over a limit; `message` says which. */
export class EventStreamError extends Error {
  override readonly name = 'EventStreamError'
}

/** AWS's own limit; that of an event of server-sent events here, too (docs/contract/streams.md#reading-providers). */
const MESSAGE_MAX = 16 * 1024 * 1024

/** Two lengths, their checksum, and the checksum of all. */
const OVERHEAD = 16

export const openEventStream = async (messageMax: number = MESSAGE_MAX): Promise<EventStream> => {
  // Loaded when first used: who calls no Bedrock does not pay for it.
  const { EventStreamCodec } = await import('@smithy/core/event-streams')
  const utf8 = new TextDecoder()
  const codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : utf8.decode(bytes)),
    (text) => Buffer.from(text),
  )
  const unread = createBuffer()
  return {
    *read(chunk) {
      unread.append(chunk)
      for (;;) {
        const length = unread.lengthOfNext()
        if (length === null) return
        if (length < OVERHEAD || length > messageMax)
          throw new EventStreamError(`A message says it has ${length} bytes; ${OVERHEAD} to ${messageMax} are possible.`)
        if (unread.size < length) return
        yield messageOf(codec, unread.take(length), utf8)
      }
    },
  }
}

const messageOf = (codec: EventStreamCodec, bytes: Uint8Array, utf8: TextDecoder): StreamMessage => {
  const { headers, body } = decoded(codec, bytes)
  const header = (name: string): string => {
    const reported = Object.hasOwn(headers, name) ? headers[name] : undefined
    return reported?.type === 'string' ? reported.value : ''
  }
  switch (header(':message-type')) {
    case 'event':
      return { kind: 'event', name: header(':event-type'), text: utf8.decode(body) }
    case 'exception':
      return { kind: 'exception', name: header(':exception-type'), text: utf8.decode(body) }
    case 'error':
      // It has no payload: its sentence is a header.
      return { kind: 'error', name: header(':error-code'), text: JSON.stringify({ message: header(':error-message') }) }
    default:
      throw new EventStreamError('A message is of an unknown type.')
  }
}

const decoded = (codec: EventStreamCodec, bytes: Uint8Array): ReturnType<EventStreamCodec['decode']> => {
  try {
    return codec.decode(bytes)
  } catch (cause) {
    throw new EventStreamError('A message is damaged.', { cause })
  }
}

interface ByteBuffer {
  readonly size: number
  append(bytes: Uint8Array): void
  /** The length that the next message states; null before it can be read. */
  lengthOfNext(): number | null
  /** The next bytes; what was taken is valid until more is appended. */
  take(length: number): Uint8Array
}

const FIRST_SIZE = 4096

/** Moves what it holds only into twice the room, so that a message that comes byte by byte is copied in linear time. */
const createBuffer = (): ByteBuffer => {
  let held = new Uint8Array(FIRST_SIZE)
  let start = 0
  let end = 0
  return {
    get size() {
      return end - start
    },
    append(bytes) {
      const size = end - start
      if (end + bytes.byteLength > held.byteLength) {
        const room = (size + bytes.byteLength) * 2
        const next = room > held.byteLength ? new Uint8Array(room) : held
        next.set(held.subarray(start, end))
        held = next
        start = 0
        end = size
      }
      held.set(bytes, end)
      end += bytes.byteLength
    },
    lengthOfNext: () => (end - start < 4 ? null : new DataView(held.buffer).getUint32(start)),
    take(length) {
      start += length
      return held.subarray(start - length, start)
    },
  }
}
