import { describe, expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { GatewayError } from '../errors.ts'
import { rejection } from '../storage/testing/rejection.ts'
import { readBodyText } from './read-body.ts'

const LIMIT = 100
const clock = createFakeClock()
const LIMITS = { maxBytes: LIMIT, clock, totalMs: 60_000, idleMs: 10_000 }

const streamOf = (pieces: readonly Uint8Array[], asked: { count: number } = { count: 0 }): ReadableStream<Uint8Array> => {
  let at = 0
  return new ReadableStream(
    {
      pull(controller) {
        asked.count += 1
        const piece = pieces[at]
        at += 1
        if (piece === undefined) controller.close()
        else controller.enqueue(piece)
      },
    },
    { highWaterMark: 0 },
  )
}

const request = (body: string | Uint8Array | ReadableStream<Uint8Array> | null, headers: Record<string, string> = {}): Request =>
  new Request('http://host/x', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    duplex: 'half',
  })

const refusal = async (made: Request): Promise<{ status: number; type: string }> => {
  const thrown = await rejection(readBodyText(made, LIMITS))
  if (!(thrown instanceof GatewayError)) throw thrown
  return { status: thrown.status, type: thrown.type }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('size', () => {
  test.each([true, false])('of exactly the limit is read; a length is declared: %p', async (declared) => {
    const text = 'ä'.repeat(50)
    const headers: Record<string, string> = declared ? { 'content-length': '100' } : {}
    expect(await readBodyText(request(declared ? text : streamOf([bytes(text)]), headers), LIMITS)).toBe(text)
  })

  test('413: one byte more, declared: nothing is read', async () => {
    const asked = { count: 0 }
    expect(await refusal(request(streamOf([bytes('x'.repeat(101))], asked), { 'content-length': '101' }))).toEqual({
      status: 413,
      type: 'payload_too_large',
    })
    expect(asked.count).toBe(0)
  })

  test('413: one byte more, not declared', async () => {
    expect(await refusal(request(streamOf([bytes('x'.repeat(60)), bytes('x'.repeat(41))])))).toEqual({
      status: 413,
      type: 'payload_too_large',
    })
  })

  test('413: without an end, and reading stops at the limit', async () => {
    const asked = { count: 0 }
    const endless = Array.from({ length: 1000 }, () => bytes('x'.repeat(30)))
    expect((await refusal(request(streamOf(endless, asked)))).status).toBe(413)
    expect(asked.count).toBeLessThanOrEqual(5)
  })

  test('413: more than was declared', async () => {
    expect((await refusal(request(streamOf([bytes('x'.repeat(101))]), { 'content-length': '5' }))).status).toBe(413)
  })

  test('of nothing is nothing', async () => {
    expect(await readBodyText(request(null), LIMITS)).toBe('')
    expect(await readBodyText(request(streamOf([])), LIMITS)).toBe('')
  })
})

describe('the type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'application/problem+json; charset=utf-8',
  ])('is read: %s', async (type) => {
    expect(await readBodyText(request('{}', { 'content-type': type }), LIMITS)).toBe('{}')
  })

  test('is taken for JSON where none is told', async () => {
    expect(await readBodyText(new Request('http://host/x', { method: 'POST', body: bytes('{}') }), LIMITS)).toBe('{}')
  })

  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json-seq',
    'application/json; charset=utf-7',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json, text/plain',
    'application/json\ta',
    'application/jsonx',
    'xapplication/json',
    'text/html;application/json',
    '*/*',
  ])('400: %s', async (type) => {
    expect(await refusal(request('{}', { 'content-type': type }))).toEqual({ status: 400, type: 'invalid_request' })
  })

  test('a wrong type is told before anything is read', async () => {
    const asked = { count: 0 }
    await refusal(request(streamOf([bytes('{}')], asked), { 'content-type': 'text/plain' }))
    expect(asked.count).toBe(0)
  })

  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, identity', 'x'])('400: compressed with %s', async (encoding) => {
    expect((await refusal(request('{}', { 'content-encoding': encoding }))).status).toBe(400)
  })

  test('identity is no compression', async () => {
    expect(await readBodyText(request('{}', { 'content-encoding': 'identity' }), LIMITS)).toBe('{}')
  })
})

describe('the text', () => {
  test('is UTF-8, also where a character is cut between two pieces', async () => {
    const text = '{"a":"日本語😀"}'
    const each = Array.from(bytes(text), (byte) => Uint8Array.of(byte))
    expect(await readBodyText(request(streamOf(each)), LIMITS)).toBe(text)
  })

  test.each<[string, number[]]>([
    ['a lone continuation', [0x7b, 0x80, 0x7d]],
    ['a cut character', [0x7b, 0xe6, 0x97]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('400: %s', async (_, invalid) => {
    expect(await refusal(request(Uint8Array.from(invalid)))).toEqual({ status: 400, type: 'invalid_request' })
  })

  test('keeps its byte order mark, for the JSON reader to refuse', async () => {
    expect(await readBodyText(request('\uFEFF{}'), LIMITS)).toBe('\uFEFF{}')
  })
})

describe('408: a body that does not come', () => {
  /** A body that comes piece by piece, as the test sends it. */
  const slowly = (headers: Record<string, string> = {}) => {
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const writer = body.writable.getWriter()
    return { writer, refused: refusal(request(body.readable, headers)) }
  }

  test.each<[string, Record<string, string>]>([
    ['of no declared length', {}],
    ['of a small length', { 'content-length': '90' }],
  ])('%s, silent for ten seconds', async (_, headers) => {
    const { writer, refused } = slowly(headers)
    void writer.write(bytes('{')).catch(() => undefined)
    await turn()
    clock.advance(10_000)
    expect(await refused).toEqual({ status: 408, type: 'timeout' })
    expect(clock.waiting).toBe(0)
  })

  test('byte after byte, for a minute in all', async () => {
    const { writer, refused } = slowly()
    for (let second = 0; second < 61; second += 1) {
      void writer.write(bytes(' ')).catch(() => undefined)
      await turn()
      clock.advance(1000)
    }
    expect(await refused).toEqual({ status: 408, type: 'timeout' })
    expect(clock.waiting).toBe(0)
  })
})
