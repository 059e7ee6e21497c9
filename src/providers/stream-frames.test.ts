import { describe, expect, test } from 'bun:test'

import { createFakeClock, turn, type FakeClock } from '../../test/support/fake-clock.ts'
import { dataEvent, startFakeUpstream, type Script } from '../../test/support/fake-upstream.ts'
import type { Frame, ModelEvent } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import type { Target } from './provider.ts'
import { type EventReader, streamFrames } from './stream-frames.ts'
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

/** A dialect of three words: `"end"` and `"fail"` are those two, all else is text. */
const reader: EventReader = {
  read(body, _, frames) {
    if (body === 'fail') throw new GatewayError('server', 'Told.')
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
      await streamFrames(response, words, target, (frames) => void heard.push(...frames.flatMap(reported)))
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

describe('behind the model’s end', () => {
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
