import { describe, expect, test } from 'bun:test'

import { createFakeClock, turn, type FakeClock } from '../../../test/support/fake-clock.ts'
import { dataEvent, startFakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import type { Target } from '../provider.ts'
import { turnsOf } from './answer-turns.ts'
import type { EventReader } from './event-reader.ts'
import { streamFrames } from './stream-frames.ts'
import type { UpstreamResponse } from './upstream-response.ts'
import { createUpstream } from './upstream.ts'

const upstream = await startFakeUpstream()
const TIMEOUTS = { streamHeadersMs: 60_000, wholeHeadersMs: 600_000, idleMs: 500 }
const target: Target = {
  provider: 'acme',
  providerName: 'Acme',
  baseUrl: upstream.url,
  apiKey: null,
  modelId: 'acme/one',
  upstreamModel: 'one',
  maxCompletionTokens: null,
}

const CUT = 'thrown provider_unavailable: Acme ended the stream before the answer was complete.'

/** A dialect with three kinds of events: `"end"`, `"fail"` (also in a list), and text for everything else. */
const reader: EventReader = {
  read(body, _, frames) {
    if (String(body) === 'fail') throw new GatewayError('server', 'Told.')
    const said: ModelEvent = body === 'end' ? { type: 'finish', reason: 'stop', native: null } : { type: 'text', text: String(body) }
    frames.push({ events: [said] })
  },
}

const begin = (script: Script, words: EventReader = reader): { clock: FakeClock; read: Promise<string[]>; saw: () => number } => {
  upstream.script(script)
  const clock = createFakeClock()
  const heard: string[] = []
  const reported = ({ events }: Frame): string[] => events.map((event) => (event.type === 'text' ? event.text : event.type))
  const read = async (): Promise<string[]> => {
    const connection = new AbortController()
    const request = { url: upstream.url, headers: {}, body: '{}', stream: true, connection }
    try {
      const response = await createUpstream(clock, TIMEOUTS).post(request)
      const reading = { reader: words, target, turn: turnsOf({}, { connection }) }
      await streamFrames(response, reading, (frames) => void heard.push(...frames.flatMap(reported)))
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      heard.push(`thrown ${thrown.type}: ${thrown.message}`)
    }
    return heard
  }
  return { clock, read: read(), saw: () => heard.length }
}

const said = (...words: readonly string[]): string =>
  words.map((word) => dataEvent(word === '[DONE]' ? word : JSON.stringify(word))).join('')

const sending =
  (bytes: string): Script =>
  async (exchange) => {
    await exchange.head(200)
    await exchange.piece(bytes)
  }

test.each<[string, string, string[]]>([
  ['an end', said('a', 'end'), ['a', 'finish']],
  ['what comes behind the model’s end', said('end', 'a'), ['finish', 'a']],
  ['nothing behind the marker', said('a', 'end', '[DONE]', 'b'), ['a', 'finish']],
  ['a marker alone', said('[DONE]'), [CUT]],
  ['a last event without its blank line that is the end', said('a') + 'data: "end"', ['a', 'finish']],
  ['one that is not', said('a') + 'data: "b"', ['a', CUT]],
  ['one that is a failure', said('a') + 'data: ["fail"]', ['a', 'thrown server: Told.']],
  ['one that is a word, which reports nothing', said('a') + 'data: "fail"', ['a', CUT]],
  ['a last ping without its blank line', said('a', 'end') + 'data: null', ['a', 'finish']],
  ['one that is cut off', said('a') + 'data: "fai', ['a', CUT]],
  ['a failure behind what came before it', said('a', 'fail', 'b', 'end'), ['a', 'thrown server: Told.']],
  ['no failure behind the model’s end', said('a', 'end', 'fail', 'b', '[DONE]'), ['a', 'finish', 'b']],
  ['nothing behind the model’s end that is not JSON', `${said('a', 'end')}data: {\n\n`, ['a', 'finish']],
  ['nothing behind the model’s end that breaks a limit', `${said('a', 'end')}data: ${'x'.repeat(9 * 1024 * 1024)}`, ['a', 'finish']],
  ['what is not JSON', `${said('a')}data: {\n\n`, ['a', 'thrown provider_unavailable: Acme sent a stream event that is not JSON.']],
  ['no end', said('a'), ['a', CUT]],
])('reads %s', async (_, bytes, heard) => {
  const script: Script = async (exchange) => (await sending(bytes)(exchange), await exchange.done())
  expect(await begin(script).read).toEqual(heard)
})

describe('after the model’s end', () => {
  const ended = async (words?: EventReader) => {
    const begun = begin(sending(said('a', 'end')), words)
    while (begun.saw() < 2 || begun.clock.waiting < 2) await turn()
    return begun
  }

  test('a broken connection is a normal end', async () => {
    const { read } = await ended()
    upstream.last.reset()
    expect(await read).toEqual(['a', 'finish'])
  })

  test('silence holds the client for a second at most, also where silence is allowed for less', async () => {
    const { read, clock } = await ended()
    clock.advance(1000)
    expect(await read).toEqual(['a', 'finish'])
    await upstream.last.gone
    expect(clock.waiting).toBe(0)
  })

  test('what comes within that second counts', async () => {
    const { read, clock } = await ended()
    clock.advance(999)
    await upstream.last.piece(said('b', '[DONE]'))
    expect(await read).toEqual(['a', 'finish', 'b'])
  })
})

test('a dialect without a word for its end gets it when the bytes end', async () => {
  let ended = false
  const words: EventReader = {
    patienceMs: 5000,
    read(body, event, frames) {
      if (body === 'end') ended = true
      else reader.read(body, event, frames)
    },
    mayEnd: () => ended,
    ending: () => ({ events: [{ type: 'finish', reason: 'length', native: null }] }),
  }
  const script: Script = async (exchange) => (await sending(said('a', 'end', 'b'))(exchange), await exchange.done())
  expect(await begin(script, words).read).toEqual(['a', 'b', 'finish'])
})

describe('large answers', () => {
  const encoder = new TextEncoder()

  /** Reads the pieces and calls `inTurn` at each turn of other requests; `heard` has an element for each batch. */
  const readAll = async (
    pieces: readonly Uint8Array[],
    { words = reader, inTurn = () => undefined, taken = () => undefined }: Partial<Listening> = {},
  ): Promise<{ heard: string[][]; thrown: unknown; closed: number }> => {
    const connection = new AbortController()
    const heard: string[][] = []
    const left = [...pieces]
    let closed = 0
    const response: UpstreamResponse = {
      status: 200,
      headers: new Headers(),
      pieces: () => ({ next: () => Promise.resolve(left.shift() ?? null), close: () => void (closed += 1) }),
      complete: () => undefined,
      text: () => Promise.reject(new Error('A stream is not read as text.')),
      beginning: () => Promise.reject(new Error('A stream is not read as text.')),
    }
    let thrown: unknown = null
    const giveWay = (): Promise<void> => Promise.resolve().then(() => inTurn(connection, heard.length))
    try {
      await streamFrames(response, { reader: words, target, turn: turnsOf({ turn: giveWay }, { connection }) }, (frames) => {
        heard.push(frames.flatMap(({ events }) => events.map((event) => (event.type === 'text' ? event.text : event.type))))
        return taken(heard.length)
      })
    } catch (fault) {
      thrown = fault
    }
    return { heard, thrown, closed }
  }

  interface Listening {
    readonly words: EventReader
    readonly inTurn: (connection: AbortController, batches: number) => void
    readonly taken: (batches: number) => Promise<void> | undefined
  }

  test('an event goes on in parts behind what came before it, says the same, and no character is cut', async () => {
    for (const shift of ['', 'x', 'xy']) {
      const long = shift + '\u{1F600}\n"'.repeat(100_000)
      const { heard, thrown } = await readAll([encoder.encode(said('a', long, 'b', 'end'))])
      expect(thrown).toBeNull()
      expect(heard[0]).toEqual(['a'])
      expect(heard.at(-1)).toEqual(['b', 'finish'])
      const parts = heard.slice(1, -1).flat()
      expect(parts.join('') === long).toBe(true)
      expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(20_000)
      for (const part of parts) expect(part.isWellFormed()).toBe(true)
    }
  })

  test('an event of four times the length gives way more often', async () => {
    const turns = async (length: number): Promise<number> => {
      let count = 0
      await readAll([encoder.encode(said('x'.repeat(length), 'end'))], { inTurn: () => void (count += 1) })
      return count
    }
    const few = await turns(1_000_000)
    expect(few).toBeGreaterThan(60)
    expect(await turns(4_000_000)).toBeGreaterThan(few + 180)
    expect(await turns(10_000)).toBe(0)
  })

  test('a piece of many events is read in parts, the same as whole', async () => {
    const words = Array.from({ length: 50_000 }, (_, at) => `w${at}`)
    const bytes = encoder.encode(said(...words, 'end'))
    let turns = 0
    const { heard } = await readAll([bytes], { inTurn: () => void (turns += 1) })
    expect(heard.flat()).toEqual([...words, 'finish'])
    expect(Math.max(...heard.map((batch) => batch.length))).toBeLessThan(10_000)
    expect(turns).toBeGreaterThan(8)
  })

  test('the event in the client’s own dialect stays one frame', async () => {
    const words: EventReader = {
      read(body, event, frames) {
        reader.read(body, event, frames)
        const last = frames.pop()
        if (last !== undefined) frames.push({ ...last, native: { dialect: 'chat', json: event.data } })
      },
    }
    const long = 'x'.repeat(1_000_000)
    const { heard } = await readAll([encoder.encode(said('a', long, 'end'))], { words })
    expect(heard).toEqual([['a'], [long], ['finish']])
  })

  test('an attempt that was ended meanwhile goes no further: its reason is thrown', async () => {
    const reason = new GatewayError('timeout', 'Too late.')
    const bytes = encoder.encode(said('a', 'x'.repeat(1_000_000), 'end'))
    const early = await readAll([bytes], { inTurn: (connection) => connection.abort(reason) })
    expect(early).toMatchObject({ thrown: reason, closed: 1 })
    expect(early.heard.flat().join('')).not.toContain('x'.repeat(20_000))
    const late = await readAll([bytes], { inTurn: (connection, batches) => batches > 3 && connection.abort(reason) })
    expect(late).toMatchObject({ thrown: reason, closed: 1 })
    expect(late.heard).toHaveLength(4)
  })

  test('a slow reader is waited for between two parts', async () => {
    let behind = 0
    let most = 0
    await readAll([encoder.encode(said('x'.repeat(1_000_000), 'end'))], {
      taken() {
        behind += 1
        most = Math.max(most, behind)
        return turn().then(() => void (behind -= 1))
      },
    })
    expect(most).toBe(1)
  })

  test.each([
    ['is not JSON', `data: "${'x'.repeat(1_000_000)}\n\n`, 'sent a stream event that is not JSON.'],
    ['has too many parts', `data: [${'{},'.repeat(200_000)}{}]\n\n`, 'sent an answer of more than 10000 parts.'],
  ])('an event that %s is a failure, but not after the model’s end', async (_, bytes, message) => {
    expect(await readAll([encoder.encode(said('a') + bytes)])).toMatchObject({
      heard: [['a']],
      thrown: { type: 'provider_unavailable', message: `Acme ${message}` },
    })
    expect(await readAll([encoder.encode(said('a', 'end') + bytes)])).toMatchObject({ heard: [['a', 'finish']], thrown: null })
  })
})
