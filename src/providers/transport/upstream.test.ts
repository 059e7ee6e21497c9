import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { type Exchange, startFakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import { GatewayError } from '../../errors.ts'
import { rejection } from '../../storage/testing/rejection.ts'
import { createReachability, probeUnless, type Reachability } from './reachability.ts'
import { keptPieces } from './piece-reader.ts'
import type { UpstreamResponse } from './upstream-response.ts'
import { createUpstream } from './upstream.ts'

const provider = await startFakeUpstream()
const IDLE_MS = 90_000

const post = async (script: Script) => {
  provider.script(script)
  const clock = createFakeClock()
  /** Time in which this process stood still, so that its timers are late. */
  const stood = { ms: 0 }
  const connection = new AbortController()
  const upstream = createUpstream(
    { ...clock, monotonicMs: () => clock.monotonicMs() + stood.ms },
    { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: IDLE_MS },
  )
  const response: UpstreamResponse = await upstream.post({
    url: `${provider.url}/x`,
    headers: {},
    body: '{}',
    stream: true,
    connection,
  })
  return { clock, stood, connection, response }
}

const textOf = (piece: Uint8Array | null): string => (piece === null ? '' : Buffer.from(piece).toString())

const failure = async (work: Promise<unknown>): Promise<GatewayError> => {
  const thrown = await rejection(work)
  if (!(thrown instanceof GatewayError)) throw thrown
  return thrown
}

describe('pieces', () => {
  test('come as they are sent, and the deadline of the headers is over with the headers', async () => {
    const { response, clock } = await post((exchange) => exchange.head(200))
    const pieces = response.pieces()
    for (const text of ['one', 'two']) {
      const next = pieces.next()
      await provider.last.piece(text)
      expect(textOf(await next)).toBe(text)
    }
    const last = pieces.next()
    await provider.last.done()
    expect(await last).toBeNull()
    expect(clock.waiting).toBe(0)
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['gzip, zstd', (bytes: Uint8Array) => zstdCompressSync(gzipSync(bytes))],
  ] as const)('in %s, though nobody asked for it, stay small however much their bytes become', async (coding, compress) => {
    const { response, clock } = await post(async (exchange) => {
      const bytes = compress(Buffer.alloc(32 * 1024 * 1024, 32))
      await exchange.send(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bytes.length}\r\n\r\n`)
      await exchange.send(bytes)
    })
    const pieces = response.pieces()
    const sizes: number[] = []
    for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) sizes.push(piece.byteLength)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(32 * 1024 * 1024)
    expect(Math.max(...sizes)).toBeLessThan(1024 * 1024)
    expect(clock.waiting).toBe(0)
  })

  test.each([
    ['deflate without a header', 'deflate', deflateRawSync('{}'), '{}'],
    ['gzip with bytes behind it', 'gzip', Buffer.concat([gzipSync('{}'), Buffer.alloc(16)]), '{}'],
    ['nothing at all', 'gzip', Buffer.alloc(0), ''],
    ['nothing at all', 'br', Buffer.alloc(0), ''],
  ] as const)('as servers send them that compress unasked: %s (%s)', async (_what, coding, bytes, text) => {
    const answer = () =>
      post(async (exchange) => {
        await exchange.send(`HTTP/1.1 429 Too Many Requests\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bytes.length}\r\n\r\n`)
        await exchange.send(bytes)
      })
    expect(await (await answer()).response.beginning(100)).toBe(text)
    expect(await (await answer()).response.text(100)).toBe(text)
  })

  test('in a coding that is not what it says fail as an answer that broke off', async () => {
    const { response } = await post((exchange) => exchange.answer(200, 'not compressed', { 'content-encoding': 'gzip' }))
    expect((await failure(response.pieces().next())).type).toBe('provider_unavailable')
  })

  test('no more of them than are wanted: then the connection is closed', async () => {
    const { response, clock } = await post(async (exchange) => {
      await exchange.head(200)
      await exchange.piece('12345')
    })
    const pieces = keptPieces(response.pieces(), 9)
    expect(textOf(await pieces.next())).toBe('12345')
    const next = pieces.next()
    await provider.last.piece('67890')
    const error = await failure(next)
    expect([error.type, error.message]).toEqual(['provider_unavailable', "The provider's response is larger than 9 bytes."])
    await provider.last.gone
    expect(clock.waiting).toBe(0)
  })

  test('every piece is life: silence is counted from the last one', async () => {
    const { response, clock } = await post((exchange) => exchange.head(200))
    const pieces = response.pieces()
    for (let round = 0; round < 4; round += 1) {
      const next = pieces.next()
      clock.advance(IDLE_MS - 1)
      await provider.last.piece(': a comment\n\n')
      await next
    }
    const next = pieces.next()
    clock.advance(IDLE_MS)
    const error = await failure(next)
    expect([error.type, error.message]).toEqual(['timeout', 'The provider sent nothing for 90 seconds.'])
    await provider.last.gone
    expect(clock.waiting).toBe(0)
  })

  test('a client that takes its time is not the silence of the provider', async () => {
    const { response, clock } = await post((exchange) => exchange.head(200))
    const pieces = response.pieces()
    for (const text of ['one', 'two']) {
      const next = pieces.next()
      await provider.last.piece(text)
      expect(textOf(await next)).toBe(text)
      for (let hour = 0; hour < 3; hour += 1) clock.advance(3_600_000)
    }
    const last = pieces.next()
    await provider.last.done()
    expect(await last).toBeNull()
  })

  test('a process that stood still gives a stream the whole time once more, and then ends it', async () => {
    const { response, clock, stood } = await post((exchange) => exchange.head(200))
    const pieces = response.pieces()
    const next = pieces.next()
    stood.ms = 3_600_000
    clock.advance(IDLE_MS)
    await provider.last.piece('it goes on')
    expect(textOf(await next)).toBe('it goes on')
    const last = pieces.next()
    stood.ms *= 2
    clock.advance(IDLE_MS)
    clock.advance(IDLE_MS)
    expect((await failure(last)).type).toBe('timeout')
  })

  test('left early, the connection is closed', async () => {
    const { response, clock } = await post(async (exchange) => (await exchange.head(200), await exchange.piece('one')))
    const pieces = response.pieces()
    expect(textOf(await pieces.next())).toBe('one')
    pieces.close()
    await provider.last.gone
    expect(clock.waiting).toBe(0)
  })

  test('left after the answer was complete, the connection is used again', async () => {
    const { response, clock } = await post(async (exchange) => (await exchange.head(200), await exchange.piece('all')))
    const pieces = response.pieces()
    await pieces.next()
    response.complete()
    pieces.close()
    expect(clock.waiting).toBe(1) // reading the rest has a deadline
    const first = provider.last
    await first.done()
    let over = false
    void first.gone.then(() => (over = true))
    const { response: second } = await post((exchange) => exchange.answer(200, '{}'))
    expect(await second.text(100)).toBe('{}')
    expect(over).toBe(false)
  })

  test('left after the answer was complete, a connection that does not end is closed after a second', async () => {
    const { response, clock } = await post(async (exchange) => (await exchange.head(200), await exchange.piece('all')))
    const pieces = response.pieces()
    await pieces.next()
    response.complete()
    pieces.close()
    clock.advance(1000)
    await provider.last.gone
    expect(clock.waiting).toBe(0)
  })

  describe('after a complete answer', () => {
    const completed = async (patienceMs?: number) => {
      const posted = await post(async (exchange) => (await exchange.head(200), await exchange.piece('all')))
      const pieces = posted.response.pieces()
      await pieces.next()
      posted.response.complete(patienceMs)
      return { ...posted, pieces }
    }

    test('still come, and a cut is their end', async () => {
      const { pieces, clock } = await completed()
      const more = pieces.next()
      await provider.last.piece('more')
      expect(textOf(await more)).toBe('more')
      const next = pieces.next()
      provider.last.reset()
      expect([await next, clock.waiting]).toEqual([null, 0])
    })

    test.each([undefined, 5000])('are waited for no longer than told (%p ms), however they trickle', async (patienceMs) => {
      const { pieces, clock } = await completed(patienceMs)
      const limitMs = patienceMs ?? 1000
      const more = pieces.next()
      clock.advance(limitMs - 1)
      await provider.last.piece('more')
      expect(textOf(await more)).toBe('more')
      clock.advance(IDLE_MS) // time that the client took, which is not the provider's silence
      const next = pieces.next()
      clock.advance(1)
      expect(await next).toBeNull()
      await provider.last.gone
      expect(clock.waiting).toBe(0)
    })

    test('are not wanted by a client that left: its reason is thrown', async () => {
      const { pieces, connection } = await completed()
      const reason = new GatewayError('timeout', 'The client is gone.')
      const next = failure(pieces.next())
      connection.abort(reason)
      expect(await next).toBe(reason)
    })
  })

  test('cut, they are a failure: with chunks and with a length', async () => {
    const chunked = await post(async (exchange) => (await exchange.head(200), await exchange.piece('one'), exchange.end()))
    const measured = await post(
      async (exchange) => (await exchange.send('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\none'), exchange.end()),
    )
    for (const { response, clock } of [chunked, measured]) {
      const error = await failure(
        (async () => {
          const pieces = response.pieces()
          while ((await pieces.next()) !== null);
        })(),
      )
      expect(error.type).toBe('provider_unavailable')
      expect(clock.waiting).toBe(0)
    }
  })
})

describe('what a provider sends beyond its answer is never the answer to the next request', () => {
  const answer = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  const forged = answer('of somebody else')

  test.each<[string, string, (exchange: Exchange) => Promise<void>]>([
    ['behind it', answer('first') + forged, async () => undefined],
    ['on the idle connection', answer('first'), (exchange) => exchange.send(forged)],
  ])('%s', async (_, sent, sendLater) => {
    const { response } = await post((exchange) => exchange.send(sent))
    const first = provider.last
    expect(await response.text(100)).toBe('first')
    await sendLater(first)
    await first.gone
    expect(await (await post((exchange) => exchange.answer(200, 'own'))).response.text(100)).toBe('own')
  })
})

describe('text', () => {
  test.each<[string, Script]>([
    ['with a length', (exchange) => exchange.answer(200, 'ä'.repeat(50))],
    [
      'in chunks',
      async (exchange) => (
        await exchange.head(200),
        await exchange.piece('ä'.repeat(25)),
        await exchange.piece('ä'.repeat(25)),
        await exchange.done()
      ),
    ],
  ])('of exactly the limit is read, of one byte more is a failure: %s', async (_, script) => {
    expect(await (await post(script)).response.text(100)).toBe('ä'.repeat(50))
    const { response, clock } = await post(script)
    const error = await failure(response.text(99))
    expect([error.type, error.message]).toEqual(['provider_unavailable', "The provider's response is larger than 99 bytes."])
    expect(clock.waiting).toBe(0)
  })

  test('of a body that does not end in time is a timeout', async () => {
    const { response, clock } = await post((exchange) => exchange.send('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\none'))
    const text = response.text(100)
    clock.advance(IDLE_MS)
    expect((await failure(text)).type).toBe('timeout')
    await provider.last.gone
  })
})

describe('beginning', () => {
  test.each<[number, string]>([
    [100, 'abcdefgh'],
    [8, 'abcdefgh'],
    [5, 'abcde'],
    [4, 'abcd'],
    [1, 'a'],
  ])('is at most %d bytes', async (limit, expected) => {
    const { response } = await post(
      async (exchange) => (await exchange.head(500), await exchange.piece('abcd'), await exchange.piece('efgh'), await exchange.done()),
    )
    expect(await response.beginning(limit)).toBe(expected)
  })

  test('does not wait for the rest', async () => {
    const { response } = await post(async (exchange) => (await exchange.head(500), await exchange.piece('abcd')))
    expect(await response.beginning(4)).toBe('abcd')
    await provider.last.gone
  })
})

test('the beginning of a report that is not UTF-8, or is cut within a character, is a text all the same', async () => {
  const report = Buffer.concat([Buffer.from('{"error":"'), Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80]), Buffer.from('ż"}')])
  const { response } = await post((exchange) =>
    exchange.send(Buffer.concat([Buffer.from(`HTTP/1.1 400 Bad\r\ncontent-length: ${report.byteLength}\r\n\r\n`), report])),
  )
  expect(await response.beginning(report.byteLength - 3)).toMatch(/^\{"error":"\uFFFD+$/)
})

test('a request that was aborted before it began is not sent', async () => {
  const before = provider.exchanges.length
  const connection = new AbortController()
  const reason = new GatewayError('timeout', 'The client closed the connection.')
  connection.abort(reason)
  const clock = createFakeClock()
  const upstream = createUpstream(clock, { streamHeadersMs: 1, wholeHeadersMs: 1, idleMs: 1 })
  expect(await rejection(upstream.post({ url: provider.url, headers: {}, body: '{}', stream: true, connection }))).toBe(reason)
  expect([provider.exchanges.length - before, clock.waiting]).toEqual([0, 0])
})

describe('a connection that is reset before a byte of an answer', () => {
  const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 60_000, idleMs: IDLE_MS }

  /** Returns how often the provider is asked if it resets the first request `afterMs` after it was sent, and answers any other. */
  const asked = async (reached: (reachability: Reachability) => void, afterMs = 0) => {
    const clock = createFakeClock()
    const reachability = createReachability({ clock, connectMs: 5000, probe: probeUnless(() => 'http://proxy.internal:3128') })
    reached(reachability)
    const before = provider.exchanges.length
    provider.script((exchange) => {
      if (provider.exchanges.length - before > 1) return exchange.answer(200, '{}')
      clock.advance(afterMs)
      exchange.reset()
    })
    const connection = new AbortController()
    const error = await createUpstream(clock, TIMEOUTS, reachability)
      .post({ url: `${provider.url}/x`, headers: {}, body: '{}', stream: true, connection })
      .then(
        (response) => response.text(100).then(() => null),
        (thrown: unknown) => thrown,
      )
    return [provider.exchanges.length - before, error instanceof GatewayError ? error.type : error]
  }

  const itself = (reachability: Reachability): void => reachability.reached(new URL(provider.url))

  test('is tried once more at a host that has answered: it may have been an idle one that the host was closing', async () => {
    expect(await asked(itself)).toEqual([2, null])
  })

  test.each<[string, (reachability: Reachability) => void]>([
    ['no host was ever reached', () => undefined],
    ['only another host was reached', (reachability) => reachability.reached(new URL('http://other.example'))],
  ])('is not tried again where %s: it may have done its work', async (_, reached) => {
    expect(await asked(reached)).toEqual([1, 'provider_unavailable'])
  })

  test('is not tried again a second after it was sent: its host was at work on it', async () => {
    expect(await asked(itself, 999)).toEqual([2, null])
    expect(await asked(itself, 1000)).toEqual([1, 'provider_unavailable'])
  })
})
