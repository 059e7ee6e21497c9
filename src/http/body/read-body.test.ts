import { connect } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

import { describe, expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { GatewayError } from '../../errors.ts'
import { rejection } from '../../storage/testing/rejection.ts'
import { type BodyLimits, consumeBody, type HttpRequest, readBodyText, readJsonBody, readObject } from './read-body.ts'
import { listen } from '../server.ts'

const LIMIT = 100
const MIB = 1024 * 1024
const clock = createFakeClock()
const LIMITS = { maxBytes: LIMIT, clock, totalMs: 60_000, idleMs: 10_000, space: { take: () => null }, pause: () => Promise.resolve() }

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

/** Resolves when everything that was sent has been read, and the wait for the next piece has begun. */
const arrived = async (): Promise<void> => {
  await turn()
  await turn()
}

describe('size', () => {
  test.each([true, false])('of exactly the limit is read; a length is declared: %p', async (declared) => {
    const text = 'ä'.repeat(50)
    const headers: Record<string, string> = declared ? { 'content-length': '100' } : {}
    expect(await readBodyText(request(declared ? text : streamOf([bytes(text)]), headers), LIMITS)).toBe(text)
    expect(clock.waiting).toBe(0)
  })

  test('413: one byte more, declared: nothing is read, and the connection goes on, since the runtime discards the body', async () => {
    const asked = { count: 0 }
    const thrown = await rejection(
      readBodyText(request(streamOf([bytes('x'.repeat(60)), bytes('x'.repeat(41))], asked), { 'content-length': '101' }), LIMITS),
    )
    expect(thrown).toMatchObject({ status: 413, type: 'payload_too_large', unread: false })
    expect(asked.count).toBe(0)
  })

  test('413: far more than is allowed, declared: nothing is read, and the connection ends', async () => {
    const asked = { count: 0 }
    const endless = Array.from({ length: 1000 }, () => bytes('x'.repeat(30)))
    const thrown = await rejection(readBodyText(request(streamOf(endless, asked), { 'content-length': '30000' }), LIMITS))
    expect(thrown).toMatchObject({ status: 413, unread: true })
    expect(asked.count).toBe(0)
  })

  test('413: one byte more, not declared', async () => {
    expect(await refusal(request(streamOf([bytes('x'.repeat(60)), bytes('x'.repeat(41))])))).toEqual({
      status: 413,
      type: 'payload_too_large',
    })
  })

  test('413: without an end, and reading stops at a few times the limit', async () => {
    const asked = { count: 0 }
    const endless = Array.from({ length: 1000 }, () => bytes('x'.repeat(30)))
    const thrown = await rejection(readBodyText(request(streamOf(endless, asked)), LIMITS))
    expect(thrown).toMatchObject({ status: 413, unread: true })
    expect(asked.count).toBeLessThanOrEqual((5 * LIMIT) / 30 + 2)
  })

  test('413: a client of no declared length that stops in the middle of what is thrown away gets its answer when the pause is over', async () => {
    const time = createFakeClock()
    const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes('x'.repeat(101))) })
    const reading = rejection(readBodyText(request(silent), { ...LIMITS, clock: time }))
    await arrived()
    time.advance(1000)
    expect(await reading).toMatchObject({ status: 413, unread: true })
  })

  test('413: more than was declared', async () => {
    expect((await refusal(request(streamOf([bytes('x'.repeat(101))]), { 'content-length': '5' }))).status).toBe(413)
  })

  test('of nothing is nothing', async () => {
    expect(await readBodyText(request(null), LIMITS)).toBe('')
    expect(await readBodyText(request(streamOf([])), LIMITS)).toBe('')
  })
})

test('a body in chunks of one byte each is read in few pieces', async () => {
  const chunks = 50_000
  let reads = 0
  const counting = { ...createFakeClock(), after: () => ((reads += 1), () => undefined) }
  const answer = async (received: HttpRequest): Promise<Response> =>
    new Response(String((await readBodyText(received, { ...LIMITS, maxBytes: chunks, clock: counting })).length))
  const server = listen({ host: '127.0.0.1', port: 0, shared: false, app: { answer }, onError: () => undefined })
  const socket = connect(server.port, '127.0.0.1')
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  const answered = new Promise((resolve) => socket.once('data', (piece: Buffer) => resolve(piece.toString().split('\r\n\r\n')[1])))
  socket.write(`${head}${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`)
  expect(await answered).toBe(String(chunks))
  expect(reads).toBeLessThan(chunks / 50)
  socket.destroy()
  await server.close()
})

describe('room', () => {
  const full = new GatewayError('provider_overloaded', 'full', { status: 503, retryAfterSeconds: 2 })
  const roomOf = (most: number) => {
    let taken = 0
    return {
      taken: () => taken,
      space: { take: (count: number) => (taken + count > most ? full : ((taken += count), null)) },
    }
  }

  test.each([true, false])('is taken for each byte once; a length is declared: %p', async (declared) => {
    const { space, taken } = roomOf(LIMIT)
    const headers: Record<string, string> = declared ? { 'content-length': '90' } : {}
    await readBodyText(request(streamOf([bytes('x'.repeat(50)), bytes('x'.repeat(40))]), headers), { ...LIMITS, space })
    expect(taken()).toBe(90)
  })

  test('is taken once for a long body of a declared length, and for what is more in the compressed one than was sent', async () => {
    for (const compressed of [false, true]) {
      const { space, taken } = roomOf(MIB)
      const text = ' '.repeat(MIB - 2) + '{}'
      const body = compressed ? gzipSync(text) : bytes(text)
      const headers = { 'content-length': String(body.byteLength), ...(compressed ? { 'content-encoding': 'gzip' } : {}) }
      await readJsonBody(request(streamOf([body.subarray(0, 700), body.subarray(700)]), headers), { ...LIMITS, maxBytes: MIB, space })
      expect(taken()).toBe(MIB)
    }
  })

  test('503 with Retry-After where there is none, and the rest does not come: the connection ends', async () => {
    const body = new TransformStream<Uint8Array, Uint8Array>()
    void body.writable.getWriter().write(bytes('x'.repeat(61)))
    const refused = rejection(readBodyText(request(body.readable), { ...LIMITS, space: roomOf(60).space }))
    await arrived()
    await arrived()
    clock.advance(1000)
    expect(await refused).toMatchObject({ status: 503, retryAfterSeconds: 2, unread: true })
  })

  test.each([
    ['without taking a piece of a declared length into memory', { 'content-length': '90' }, 0],
    ['once a body of unknown length was thrown away', {}, 3],
  ] as const)('503 where there is none, %s', async (_, headers, reads) => {
    const asked = { count: 0 }
    const body = streamOf([bytes('x'.repeat(50)), bytes('x'.repeat(40))], asked)
    expect(await rejection(readBodyText(request(body, headers), { ...LIMITS, space: roomOf(60).space }))).toBe(full)
    expect(asked.count).toBe(reads)
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
    'application/json;',
    'application/json; odata.metadata=minimal; charset=utf-8',
    'application/json; charset=utf-8; profile="https://example.com/a"',
    'application/json;IEEE754Compatible=true;v=1',
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
    'application/json; v=1; charset=iso-8859-1',
    'application/json; charset=utf-8; CHARSET=utf-16',
    'application/json; charset=utf-8, text/plain',
    'application/json; v=1, text/plain; v=1',
    'application/json; v',
    'application/json, text/plain',
    'application/json\ta',
    'application/jsonx',
    'xapplication/json',
    'text/html;application/json',
    '*/*',
  ])('400: %s', async (type) => {
    expect(await refusal(request('{}', { 'content-type': type }))).toEqual({ status: 400, type: 'invalid_request' })
  })

  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, identity'])('400: not compressed with %s, as its header says', async (encoding) => {
    expect(await refusal(request('{}', { 'content-encoding': encoding }))).toEqual({ status: 400, type: 'invalid_request' })
  })

  test.each(['x', 'gzip, x', 'gzip, gzip, gzip', 'constructor', '__proto__'])('400: compressed with %s', async (encoding) => {
    const thrown = await rejection(readBodyText(request('{}', { 'content-encoding': encoding }), LIMITS))
    expect(thrown).toMatchObject({ status: 400, publicMessage: expect.stringContaining('gzip, deflate, br or zstd, or uncompressed') })
  })

  test.each(['identity', 'Identity'])('%s is no compression', async (encoding) => {
    expect(await readBodyText(request('{}', { 'content-encoding': encoding }), LIMITS)).toBe('{}')
  })
})

const COMPRESSED = [
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['identity, zstd', zstdCompressSync],
  ['gzip, zstd', (text: Uint8Array) => zstdCompressSync(gzipSync(text))],
] as const

describe('a compressed body', () => {
  test.each(COMPRESSED)('is read as what was compressed: %s', async (encoding, compress) => {
    const text = '{"a":"日本語😀"}'
    for (const sent of [compress(bytes(text)), streamOf(Array.from(compress(bytes(text)), (byte) => Uint8Array.of(byte)))])
      expect(await readBodyText(request(sent, { 'content-encoding': encoding }), LIMITS)).toBe(text)
  })

  test.each(COMPRESSED)('of exactly the limit is read, and one byte more is a 413: %s', async (encoding, compress) => {
    const ofLength = (length: number): Request => request(compress(Buffer.alloc(length, ' ')), { 'content-encoding': encoding })
    expect((await readBodyText(ofLength(LIMIT), LIMITS)).length).toBe(LIMIT)
    expect(await refusal(ofLength(LIMIT + 1))).toEqual({ status: 413, type: 'payload_too_large' })
  })

  test('that would be very long is decompressed no further than the limit, and takes room as it grows', async () => {
    const maxBytes = 8 * 1024 * 1024
    const bomb = zstdCompressSync(gzipSync(Buffer.alloc(64 * maxBytes)))
    let room = 3 * 1024 * 1024
    const full = new GatewayError('provider_overloaded', 'Full.')
    const take = (taken: number): GatewayError | null => ((room -= taken) < 0 ? full : null)
    const read = (space: BodyLimits['space']) =>
      rejection(readJsonBody(request(bomb, { 'content-encoding': 'gzip, zstd' }), { ...LIMITS, maxBytes, space }))
    expect(await read(LIMITS.space)).toMatchObject({ status: 413 })
    expect(await read({ take })).toBe(full)
  })

  test('that ends early, or is no UTF-8 inside, is a 400', async () => {
    const whole = gzipSync('{"a":"b"}')
    for (const sent of [whole.subarray(0, -9), gzipSync(Uint8Array.of(0x22, 0xff, 0x22))])
      expect(await refusal(request(sent, { 'content-encoding': 'gzip' }))).toEqual({ status: 400, type: 'invalid_request' })
  })

  test.each(COMPRESSED.filter(([, compress]) => compress !== deflateRawSync))(
    'that ends early, at whatever byte and in whatever pieces, is a 400 that names its coding: %s',
    async (encoding, compress) => {
      // Whole as JSON wherever the text is whole, so that only the coding can be at fault.
      const whole = compress(bytes(`{"a":1}${' '.repeat(300_000)}`))
      const limits = { ...LIMITS, maxBytes: 1_000_000 }
      for (const cut of [1, 2, 3, 4, 5, 8, Math.floor(whole.length / 2)].filter((bytesLost) => bytesLost < whole.length)) {
        const sent = whole.subarray(0, -cut)
        for (const body of [sent, streamOf(Array.from(sent, (byte) => Uint8Array.of(byte)))]) {
          const thrown = await rejection(readBodyText(request(body, { 'content-encoding': encoding }), limits))
          expect([cut, thrown]).toMatchObject([cut, { status: 400, publicMessage: expect.stringContaining('The body is not valid') }])
        }
      }
    },
  )

  test('is longer than a piece: read whole, its escapes written out', async () => {
    const text = `{"a":"${'\\u00e4b'.repeat(200_000)}"}`
    const limits = { ...LIMITS, maxBytes: 4_000_000 }
    const { body, bytes: length } = await readJsonBody(request(zstdCompressSync(text), { 'content-encoding': 'zstd' }), limits)
    expect([body.value('a'), length < text.length]).toEqual(['äb'.repeat(200_000), true])
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
    await arrived()
    clock.advance(10_000)
    expect(await refused).toEqual({ status: 408, type: 'timeout' })
    expect(clock.waiting).toBe(0)
  })

  test('of up to 256 KiB, whose pieces are not seen: ten seconds for each 64 KiB, and no longer than any body', async () => {
    const after = async (length: number): Promise<number> => {
      const body = new TransformStream<Uint8Array, Uint8Array>()
      const made = request(body.readable, { 'content-length': String(length) })
      let refused = false
      const read = rejection(readJsonBody(made, { ...LIMITS, maxBytes: 1024 * 1024, totalMs: 35_000 })).then(() => (refused = true))
      for (let seconds = 0; ; seconds += 1) {
        await arrived()
        if (refused) return await read.then(() => seconds)
        clock.advance(1000)
      }
    }
    expect([await after(64 * 1024), await after(64 * 1024 + 1), await after(200_000), await after(256 * 1024)]).toEqual([10, 20, 35, 35])
  })

  test('byte after byte, for a minute in all', async () => {
    const { writer, refused } = slowly()
    for (let second = 0; second < 61; second += 1) {
      void writer.write(bytes(' ')).catch(() => undefined)
      await arrived()
      clock.advance(1000)
    }
    expect(await refused).toEqual({ status: 408, type: 'timeout' })
    expect(clock.waiting).toBe(0)
  })
})

test('a client that leaves before its body is whole is no fault of the service', async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('reset')) })
  expect(await rejection(readBodyText(request(broken), LIMITS))).toMatchObject({ type: 'invalid_request', unread: true })
})

describe('a body that is stored elsewhere', () => {
  const text = 'x'.repeat(60)
  const consume = async (pieces: AsyncIterable<Uint8Array>): Promise<number> => {
    let size = 0
    for await (const { byteLength } of pieces) size += byteLength
    return size
  }

  test('of exactly its limit is passed on, and one byte more, not declared, is a 413', async () => {
    expect(await consumeBody(request(streamOf([bytes(text), bytes(text)])), 120, LIMITS, consume)).toBe(120)
    const thrown = await rejection(consumeBody(request(streamOf([bytes(text), bytes(text), bytes('x')])), 120, LIMITS, consume))
    expect(thrown).toMatchObject({ status: 413, unread: false, metadata: { max_bytes: 120 } })
  })

  test('that may be longer than others may take longer, too', async () => {
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const writer = body.writable.getWriter()
    const read = consumeBody(request(body.readable), 2 * LIMIT, LIMITS, consume)
    for (let second = 0; second < 100; second += 5) {
      void writer.write(bytes('x'))
      await arrived()
      clock.advance(5000)
    }
    void writer.close()
    expect(await read).toBe(20)
  })

  test('that is refused is read to its end before the refusal, unless its reader failed: then it is given up', async () => {
    const after = async (thrown: Error): Promise<number> => {
      const asked = { count: 0 }
      const refuse = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
        for await (const { byteLength } of pieces) if (byteLength > 0) throw thrown
      }
      expect(
        await rejection(
          consumeBody(
            request(
              streamOf(
                Array.from({ length: 9 }, () => bytes('x')),
                asked,
              ),
            ),
            LIMIT,
            LIMITS,
            refuse,
          ),
        ),
      ).toBe(thrown)
      return asked.count
    }
    expect(await after(new GatewayError('invalid_request', 'No such form.'))).toBe(10)
    expect(await after(new Error('The disk is full.'))).toBeLessThan(10)
  })

  test('400: compressed; identity is no compression, however it is written', async () => {
    const sent = (encoding: string) =>
      consumeBody(request(streamOf([bytes('x')]), { 'content-encoding': encoding }), LIMIT, LIMITS, consume)
    expect([await sent('identity'), await sent('Identity')]).toEqual([1, 1])
    expect(await rejection(sent('gzip'))).toMatchObject({ status: 400 })
  })

  test('that stops coming is a 408, and its reader is told to stop', async () => {
    let cancelled = false
    const silent = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) })
    const read = rejection(consumeBody(request(silent), LIMIT, LIMITS, consume))
    await arrived()
    clock.advance(10_000)
    expect(await read).toMatchObject({ status: 408, unread: true })
    expect(cancelled).toBe(true)
  })
})

describe('a large body is read in steps, and one that is four times as long in more of them', () => {
  const stepsFor = async (read: (request: Request, limits: BodyLimits) => Promise<unknown>, mebibytes: number): Promise<number> => {
    let steps = 0
    const pause = async (): Promise<void> => void (steps += 1)
    const pieces = Array.from({ length: mebibytes * 16 }, () => bytes('x'.repeat(MIB / 16)))
    const made = request(streamOf([bytes('{"a":"'), ...pieces, bytes('"}')]))
    await read(made, { ...LIMITS, maxBytes: 20 * MIB, pause })
    return steps
  }

  test('its pieces are put together, and scanned', async () => {
    expect(await stepsFor(readJsonBody, 16)).toBeGreaterThanOrEqual((await stepsFor(readJsonBody, 4)) + 3)
    expect(await stepsFor(readJsonBody, 4)).toBeGreaterThanOrEqual(3)
  })

  test('its members are parsed, where all of them are wanted', async () => {
    expect(await stepsFor(readObject, 16)).toBeGreaterThan((await stepsFor(readObject, 4)) + 50)
  })

  test('work on a large object may yield between two steps, and a small one delays nobody', async () => {
    let steps = 0
    const pause = async (): Promise<void> => void (steps += 1)
    const read = (length: number) =>
      readObject(request(JSON.stringify({ a: 'x'.repeat(length) })), { ...LIMITS, maxBytes: 20 * MIB, pause })
    await (await read(1000)).turn()
    expect(steps).toBe(0)
    const { turn: giveWay } = await read(MIB)
    const before = steps
    await giveWay()
    expect(steps).toBe(before + 1)
  })

  test('bytes that are kept elsewhere are handed on in pieces, and others get their turn between them', async () => {
    let steps = 0
    const pause = async (): Promise<void> => void (steps += 1)
    const handed: Uint8Array[] = []
    const sent = Buffer.alloc(3 * MIB, 'abc')
    const made = request(
      streamOf([
        sent.subarray(0, 2 * MIB),
        ...Array.from({ length: 1024 }, (_, at) => sent.subarray(2 * MIB + at * 1024, 2 * MIB + (at + 1) * 1024)),
      ]),
    )
    await consumeBody(made, 4 * MIB, { ...LIMITS, pause }, async (pieces) => {
      for await (const piece of pieces) handed.push(piece)
    })
    expect(Buffer.concat(handed).equals(sent)).toBe(true)
    expect(Math.max(...handed.map(({ byteLength }) => byteLength))).toBe(MIB / 4)
    expect(steps).toBe(11)
  })

  test('413: what describes an object of the management API is longer than 4 MiB', async () => {
    const read = (): Promise<string> =>
      readBodyText(request(JSON.stringify({ name: 'x'.repeat(5 * MIB) })), { ...LIMITS, maxBytes: 20 * MIB })
    expect(await rejection(read())).toMatchObject({ type: 'payload_too_large', publicMetadata: { max_bytes: 4 * MIB } })
  })

  test('what is read in steps is what is read at once', async () => {
    const object = { seed: 1, a: 'é'.repeat(MIB), b: [{ c: null }], __proto__: null }
    const { members, text } = await readObject(request(JSON.stringify(object)), { ...LIMITS, maxBytes: 20 * MIB })
    expect(members).toEqual(object)
    expect(JSON.parse(text())).toEqual(object)
  })
})
