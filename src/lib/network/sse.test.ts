import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import * as fc from 'fast-check'

import { growth, LINEAR } from '../../../test/support/growth.ts'
import { dataFrame, DONE_FRAME, eventFrame, KEEP_ALIVE_FRAME, SseDecoder, SseLimitError } from './sse.ts'
import type { SseEvent } from './sse.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** All events in bytes that arrive in the given chunks, including the one that only the end completes. */
const decode = (...chunks: readonly Uint8Array[]): SseEvent[] => decodeAll(chunks)

const decodeAll = (chunks: Iterable<Uint8Array>): SseEvent[] => {
  const decoder = new SseDecoder()
  const events: SseEvent[] = []
  for (const chunk of chunks) events.push(...decoder.push(chunk))
  const last = decoder.end()
  return last === null ? events : [...events, last]
}

const data = (...texts: string[]): SseEvent[] => texts.map((each) => ({ event: null, data: each }))

describe('decoding', () => {
  const grammar: [string, string, SseEvent[]][] = [
    ['each event ends with a blank line', 'data: a\n\ndata: b\n\n', data('a', 'b')],
    ['mixed line ends', 'data: a\r\n\ndata: b\n\r\ndata: c\r\r\n', data('a', 'b', 'c')],
    ['one space after the colon is removed, a second one is not', 'data:a\n\ndata:  b\n\n', data('a', ' b')],
    ['several data lines are joined with LF', 'data: a\ndata:\ndata: b\n\n', data('a\n\nb')],
    ['a comment is skipped, also between the lines of an event', ': ping - 2\n\ndata: a\n:\ndata: b\n\n', data('a\nb')],
    ['a field without a colon has an empty value', 'data\ndata: a\n\n', data('\na')],
    ['an event without data is not dispatched, and its name is forgotten', 'event: x\n\ndata: a\n\n', data('a')],
    ['empty data is not dispatched', 'data:\n\ndata: \n\ndata\n\ndata: a\n\n', data('a')],
    ['the event name', 'event: x\nevent: y\ndata: a\n\ndata: b\n\n', [{ event: 'y', data: 'a' }, ...data('b')]],
    ['an empty event name is none', 'event: x\nevent:\ndata: a\n\n', data('a')],
    ['id, NUL in id, retry and unknown fields are passed over', 'id: 1\nid: a\0b\nretry: 10\nretry: x\nfoo: bar\ndata: a\n\n', data('a')],
    ['field names are exact', 'Data: a\n data: b\ndatas: c\ndata : d\ndata: e\n\n', data('e')],
    ['one leading BOM is dropped', '\uFEFFdata: a\n\n', data('a')],
    ['a second BOM, and a later one, is content', '\uFEFF\uFEFFdata: a\n\ndata: \uFEFFb\n\n', data('\uFEFFb')],
    ['characters of every UTF-8 length', 'data: aé€😀\n\n', data('aé€😀')],
    ['U+2028 and U+0085 end no line', 'data: a\u2028b\u0085c\n\n', data('a\u2028b\u0085c')],
    ['the end exposes an event that lacks its blank line', 'data: a\n\ndata: b\n', data('a', 'b')],
    ['the end exposes an event that lacks its line end', 'data: a\n\nevent: x\ndata: b', [...data('a'), { event: 'x', data: 'b' }]],
    ['nothing at all', '', []],
    ['only line ends', '\n\r\n\r\r\n\n', []],
  ]

  for (const [guarantee, stream, events] of grammar) {
    test(`${guarantee}, at every kind of line end, whole, split at every byte, and byte by byte`, () => {
      const streams = stream.includes('\r') ? [stream] : ['\n', '\r\n', '\r'].map((lineEnd) => stream.replaceAll('\n', lineEnd))
      for (const all of streams.map(bytes)) {
        expect(decode(all)).toEqual(events)
        for (let at = 0; at <= all.length; at += 1) expect(decode(all.subarray(0, at), all.subarray(at))).toEqual(events)
        expect(decode(...Array.from(all, (byte) => Uint8Array.of(byte)))).toEqual(events)
      }
    })
  }

  test('bytes that are not UTF-8 become U+FFFD, also at the end', () => {
    expect(decode(Uint8Array.of(...bytes('data: '), 0xff, 0x61, 0x0a, 0x0a))).toEqual(data('\uFFFDa'))
    expect(decode(Uint8Array.of(...bytes('data: a'), 0xf0, 0x9f))).toEqual(data('a\uFFFD'))
  })

  test('a CR at the end of a chunk dispatches at once, and the LF that follows is swallowed', () => {
    const decoder = new SseDecoder()
    expect(decoder.push(bytes('data: a\r\n\r'))).toEqual(data('a'))
    expect(decoder.push(bytes(''))).toEqual([])
    expect(decoder.push(bytes('\ndata: b\r\n'))).toEqual([])
    expect(decoder.push(bytes('\r'))).toEqual(data('b'))
  })

  for (const name of ['openai-text', 'groq-tool-call', 'azure-model-router.1', 'mistral-reasoning']) {
    test(`the recorded stream ${name}, split at every byte`, () => {
      const lines = readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/openai-chat/${name}.chunks.txt`, 'utf8')
        .split('\n')
        .filter(Boolean)
      const payloads = lines.slice(0, 8)
      const all = bytes(payloads.map(dataFrame).join(KEEP_ALIVE_FRAME) + DONE_FRAME)
      const events = data(...payloads, '[DONE]')
      for (let at = 0; at <= all.length; at += 1) {
        const decoder = new SseDecoder()
        const got = [...decoder.push(all.subarray(0, at)), ...decoder.push(all.subarray(at))]
        if (!Bun.deepEquals(got, events)) throw new Error(`split at byte ${at}: ${JSON.stringify(got)}`)
      }
    })
  }
})

describe('properties', () => {
  const line = fc.string({ unit: 'binary', minLength: 1 }).map((text) => text.toWellFormed().replaceAll(/[\r\n]/g, ' '))
  const sent = fc.array(fc.record({ event: fc.option(line), data: line }), { maxLength: 8 })
  const written = (events: readonly SseEvent[]): string =>
    events.map((each) => (each.event === null ? dataFrame(each.data) : eventFrame(each.event, each.data))).join(KEEP_ALIVE_FRAME)

  test('decoding undoes encoding', () => {
    fc.assert(fc.property(sent, (events) => expect(decode(bytes(written(events)))).toEqual(events)))
  })

  test('chunks never matter', () => {
    const soup = fc.string({
      unit: fc.constantFrom('data', 'event', ': ', ':', ' ', '\r', '\n', '\r\n', '\n\n', 'x', '\0', '€', '😀', '\uFEFF'),
    })
    fc.assert(
      fc.property(soup, fc.array(fc.nat({ max: 20 })), (stream, sizes) => {
        const all = bytes(stream)
        const chunks: Uint8Array[] = []
        let at = 0
        for (const size of sizes) chunks.push(all.subarray(at, (at += size)))
        expect(decode(...chunks, all.subarray(at))).toEqual(decode(all))
      }),
    )
  })
})

describe('limits', () => {
  const small = { line: 100, event: 150, linesPerEvent: 3 }
  const push = (...texts: string[]) => {
    const decoder = new SseDecoder(small)
    return texts.flatMap((text) => decoder.push(bytes(text)))
  }

  test('a line at its limit passes, one character more fails, in one piece or many, before it ends', () => {
    const line = `data: ${'x'.repeat(94)}`
    expect(push(`${line}\n\n`)).toHaveLength(1)
    expect(push(...line, '\n\n')).toHaveLength(1)
    expect(() => push(`${line}x\n\n`)).toThrow(SseLimitError)
    expect(() => push(...line, 'x')).toThrow(SseLimitError)
    expect(() => push(`${line}x`)).toThrow(SseLimitError)
    expect(() => push(`:${'x'.repeat(100)}\n`)).toThrow(SseLimitError)
  })

  test('the data of an event is bounded over its lines', () => {
    expect(push(`data: ${'x'.repeat(90)}\ndata: ${'x'.repeat(59)}\n\n`)).toHaveLength(1)
    expect(() => push(`data: ${'x'.repeat(90)}\ndata: ${'x'.repeat(60)}\n`)).toThrow(SseLimitError)
  })

  test('the fields of an event are bounded, comments and events are not', () => {
    expect(push('data: a\nid: 1\ndata: b\n\n'.repeat(5))).toHaveLength(5)
    expect(() => push('data: a\nid: 1\ndata: b\nfoo\n')).toThrow(SseLimitError)
    expect(push(': ping\n'.repeat(50), 'data: a\n\n')).toHaveLength(1)
  })
})

describe('time', () => {
  /** Time must be linear in the bytes (docs/contract/streams.md#reading-providers). */
  const expectLinear = (chunksOf: (size: number) => Iterable<Uint8Array>) => {
    const workOn = (size: number) => {
      const chunks = [...chunksOf(size)]
      return () => expect(decodeAll(chunks).length).toBeGreaterThan(0)
    }
    expect(growth(workOn, 100_000)).toBeLessThan(LINEAR)
  }

  test('one long event in one-byte chunks takes linear time', () => {
    const x = bytes('x')
    expectLinear((size) => [bytes('data: '), ...Array.from({ length: size }, () => x), bytes('\n\n')])
  })

  test('short lines that end in CR before a far LF take linear time', () => {
    expectLinear((size) => [bytes(`${'data: x\r\r'.repeat(size / 9)}\n`)])
  })

  test('an event of many lines takes linear time', () => {
    expectLinear((size) => [bytes(`${'data: x\n'.repeat(9000)}\n`.repeat(Math.ceil(size / 72_000)))])
  })
})

test('the frames that the service writes are these bytes', () => {
  expect(dataFrame('{"a":1}')).toBe('data: {"a":1}\n\n')
  expect(eventFrame('ping', '{"type":"ping"}')).toBe('event: ping\ndata: {"type":"ping"}\n\n')
  expect(KEEP_ALIVE_FRAME).toBe(': SERVICE PROCESSING\n\n')
  expect(DONE_FRAME).toBe('data: [DONE]\n\n')
})
