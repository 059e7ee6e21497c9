import { describe, expect, test } from 'bun:test'

import { EventStreamCodec } from '@smithy/core/event-streams'
import * as fc from 'fast-check'

import { openEventStream, type StreamMessage } from './event-stream.ts'
import { bytesOf, event, exception, message, wholeConversation } from './event-stream.test-kit.ts'
import { patient } from '../../../test/support/patience.ts'

const read = async (chunks: readonly Uint8Array[], max?: number): Promise<StreamMessage[]> => {
  const stream = await openEventStream(max)
  return chunks.flatMap((chunk) => [...stream.read(chunk)])
}

/** The messages before a fault, and the message of the fault. */
const readFaulty = async (bytes: Uint8Array, max?: number): Promise<{ messages: StreamMessage[]; fault: string | null }> => {
  const stream = await openEventStream(max)
  const messages: StreamMessage[] = []
  try {
    for (const found of stream.read(bytes)) messages.push(found)
    return { messages, fault: null }
  } catch (thrown) {
    return { messages, fault: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : 'nothing' }
  }
}

const ALL = bytesOf(wholeConversation())

describe('an event stream', () => {
  test('is read as the messages that were framed, with their names and payloads', async () => {
    const found = await read([
      bytesOf([event('messageStart', { role: 'assistant' }), exception('throttlingException', { message: 'Slow' })]),
    ])
    expect(found).toEqual([
      { kind: 'event', name: 'messageStart', text: '{"role":"assistant","p":"abcdefghijk"}' },
      { kind: 'exception', name: 'throttlingException', text: '{"message":"Slow"}' },
    ])
  })

  test('tells an error of the transport, whose sentence is a header', async () => {
    const headers = { ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'Oh "no"' }
    expect(await read([message(headers, '')])).toEqual([{ kind: 'error', name: 'InternalFailure', text: '{"message":"Oh \\"no\\""}' }])
  })

  test('is the same wherever it is cut', async () => {
    const whole = await read([ALL])
    expect(whole).toHaveLength(wholeConversation().length)
    for (let cut = 0; cut <= ALL.length; cut += 1) expect(await read([ALL.subarray(0, cut), ALL.subarray(cut)])).toEqual(whole)
    expect(await read([...ALL].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  test('is the same in any pieces', async () => {
    const whole = await read([ALL])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(ALL.length)), async (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), ALL.length]
        const pieces = edges.slice(1).map((edge, index) => ALL.subarray(edges[index], edge))
        expect(await read(pieces)).toEqual(whole)
      }),
    )
  })

  test('reads what AWS’s own codec writes', async () => {
    const codec = new EventStreamCodec(
      (bytes) => (typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes)),
      (text) => Buffer.from(text),
    )
    const headers = {
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: 'metadata' },
      sent: { type: 'timestamp', value: new Date(0) },
      flag: { type: 'boolean', value: true },
      count: { type: 'integer', value: -7 },
    } as const
    const bytes = codec.encode({ headers, body: Buffer.from('{}') })
    expect(await read([bytes])).toEqual([{ kind: 'event', name: 'metadata', text: '{}' }])
  })

  test('takes linear time for a large message that comes in crumbs', async () => {
    const large = event('contentBlockDelta', { text: 'x'.repeat(2_000_000) })
    const stream = await openEventStream()
    const found: StreamMessage[] = []
    const began = performance.now()
    for (let at = 0; at < large.length; at += 7) found.push(...stream.read(large.subarray(at, at + 7)))
    expect(found).toHaveLength(1)
    expect(performance.now() - began).toBeLessThan(patient(3000))
  })
})

describe('a stream that is not to be trusted', () => {
  test('never yields a message that was damaged by a bit', async () => {
    const good = event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } })
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length * 8 - 1), async (bit) => {
        const bad = Uint8Array.from(good)
        bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        // If the fault made the length greater, the reader waits for bytes that do not come; any other fault is reported at once.
        expect((await readFaulty(bad)).messages).toEqual([])
        expect((await readFaulty(bytesOf([bad, new Uint8Array(70_000)]))).messages).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  test('yields what came before the fault', async () => {
    const bad = Uint8Array.from(event('metadata', {}))
    bad[bad.length - 1] = (bad.at(-1) ?? 0) ^ 1
    const { messages, fault } = await readFaulty(bytesOf([event('messageStart', {}), bad]))
    expect(messages.map(({ name }) => name)).toEqual(['messageStart'])
    expect(fault).toBe('EventStreamError: A message is damaged.')
  })

  test.each<[string, Uint8Array, number | undefined, RegExp]>([
    ['is larger than the limit says', event('metadata', { text: 'x'.repeat(100) }), 99, /16 to 99 are possible/],
    ['says that it is larger than 16 MiB', Uint8Array.of(1, 0, 0, 1), undefined, /16777217 bytes/],
    ['is shorter than a message can be', Uint8Array.of(0, 0, 0, 15), undefined, /15 bytes/],
    ['is text', Buffer.from('<html>'), undefined, /bytes; 16 to/],
    ['has no type', message({ ':event-type': 'metadata' }, '{}'), undefined, /unknown type/],
    ['has no headers (AWS’s test vector empty_message)', Buffer.from('000000100000000005c248eb7d98c8ff', 'hex'), undefined, /unknown type/],
  ])('is refused where a message %s', async (_, bytes, max, sentence) => {
    const { messages, fault } = await readFaulty(bytes, max)
    expect(messages).toEqual([])
    expect(fault).toMatch(sentence)
  })
})
