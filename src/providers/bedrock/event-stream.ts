/**
 * Reads the binary framing of AWS's streams: a prelude with the lengths of the message and of its headers and a checksum of those, then
 * headers, payload, and a checksum of everything. The stream is cut into messages here; AWS's own codec reads and checks their contents.
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
   * Yields the messages that `chunk` completes. Throws EventStreamError for a message that is faulty or over the limit, after the messages
   * before it; the stream cannot be used after that.
   */
  read(chunk: Uint8Array): Generator<StreamMessage, void, undefined>
}

/** The bytes are not an event stream, are damaged, or exceed a limit; `message` says which. */
export class EventStreamError extends Error {
  override readonly name = 'EventStreamError'
}

/** AWS's own limit, and also ours for a server-sent event (docs/contract/streams.md#reading-providers). */
const MESSAGE_MAX = 16 * 1024 * 1024

/** Two lengths, their checksum, and the checksum of everything. */
const OVERHEAD = 16

export const openEventStream = async (messageMax: number = MESSAGE_MAX): Promise<EventStream> => {
  // Loaded on first use, so that services without Bedrock do not pay for it.
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
      // An error has no payload: its message is a header.
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
  /** The length that the next message states; null if it cannot be read yet. */
  lengthOfNext(): number | null
  /** The next bytes; they are valid until more is appended. */
  take(length: number): Uint8Array
}

const FIRST_SIZE = 4096

/** Contents are moved only into a buffer of twice the size, so that a message that arrives byte by byte is copied in linear time. */
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
