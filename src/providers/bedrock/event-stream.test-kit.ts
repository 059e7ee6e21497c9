/**
 * Makes event streams to decode. The messages are made by hand from the published layout of the framing and with a checksum of their own,
 * so that they do not depend on the codec under test; names and members of the events are those of the API's model.
 */
import { crc32 } from 'node:zlib'

export type Headers = Readonly<Record<string, string>>

/** Makes one message, whose headers are all strings (type 7). */
export const message = (headers: Headers, payload: string): Uint8Array => {
  const fields = Buffer.concat(Object.entries(headers).map(([name, value]) => field(name, value)))
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + fields.length + body.length, 0)
  prelude.writeUInt32BE(fields.length, 4)
  const unsealed = Buffer.concat([prelude, checksum(prelude), fields, body])
  return Buffer.concat([unsealed, checksum(unsealed)])
}

const field = (name: string, value: string): Buffer => {
  const key = Buffer.from(name)
  const text = Buffer.from(value)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length)
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7]), length, text])
}

const checksum = (bytes: Uint8Array): Buffer => {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(crc32(bytes))
  return out
}

/** Makes an event, with the padding that the service adds to each against guesses from lengths. */
export const event = (name: string, payload: object): Uint8Array =>
  message(
    { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ ...payload, p: 'abcdefghijk' }),
  )

export const exception = (name: string, payload: object): Uint8Array =>
  message({ ':exception-type': name, ':content-type': 'application/json', ':message-type': 'exception' }, JSON.stringify(payload))

export const bytesOf = (messages: readonly Uint8Array[]): Uint8Array => Buffer.concat(messages)

export const delta = (index: number, piece: object): Uint8Array => event('contentBlockDelta', { contentBlockIndex: index, delta: piece })
export const stop = (index: number): Uint8Array => event('contentBlockStop', { contentBlockIndex: index })
export const toolStart = (index: number, id: string, name: string): Uint8Array =>
  event('contentBlockStart', { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name } } })

export const USAGE = { inputTokens: 12, outputTokens: 7, totalTokens: 39, cacheReadInputTokens: 15, cacheWriteInputTokens: 5 }

export const begin = (): Uint8Array => event('messageStart', { role: 'assistant' })
export const end = (stopReason: string, more: object = {}): Uint8Array[] => [
  event('messageStop', { stopReason, ...more }),
  event('metadata', { usage: USAGE, metrics: { latencyMs: 350 } }),
]

/** Text, thinking with a signature, and two calls, one without arguments. */
export const wholeConversation = (): Uint8Array[] => [
  begin(),
  delta(0, { reasoningContent: { text: 'Weather, ' } }),
  delta(0, { reasoningContent: { text: 'then.' } }),
  delta(0, { reasoningContent: { signature: 'c2ln' } }),
  stop(0),
  delta(1, { text: 'Grüße 👋' }),
  delta(1, { text: '' }),
  stop(1),
  toolStart(2, 'tooluse_a', 'weather'),
  delta(2, { toolUse: { input: '{"city":' } }),
  delta(2, { toolUse: { input: '"Oslo"}' } }),
  stop(2),
  toolStart(3, 'tooluse_b', 'now'),
  stop(3),
  ...end('tool_use'),
]
