/** The models of the sandbox through every interface: the same text, thinking, calls and end, each sent once, streamed and whole. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { readStream } from '../support/client-stream.ts'
import { createFakeClock, turn } from '../support/fake-clock.ts'
import { readAnswer, type Reading } from '../support/read-answer.ts'
import { OWN_DIALECT, question, replay, type Replayed, typeOf } from '../support/replay.ts'

/** An answer of the sandbox, with its waits skipped. */
const play = async (client: ClientDialect, stream: boolean, name: string): Promise<Replayed> => {
  const clock = createFakeClock()
  const upstream = { dialect: 'sandbox', model: `sandbox/${name}`, reply: { type: typeOf(stream), pieces: [] } } as const
  let over = false
  const playing = replay({ client, upstreams: [upstream, upstream], body: question(client, stream), clock }).finally(() => (over = true))
  while (!over) {
    await turn()
    clock.advance(250)
  }
  return playing
}

interface Reported {
  readonly text: RegExp
  readonly reasoning?: RegExp
  readonly refusal?: string
  readonly calls?: readonly string[]
  readonly stop: string
}

const REPORTED: Readonly<Record<string, Reported>> = {
  echo: { text: /^Hi$/, stop: 'stop' },
  lorem: { text: /^(?:\S+ ){119}\S+$/, stop: 'stop' },
  tools: { text: /^$/, calls: ['get_weather'], stop: 'tool_calls' },
  reasoning: { text: /^Your message has 1 words\.$/, reasoning: /^The last message of the user has 1 words/, stop: 'stop' },
  refusal: { text: /^$/, refusal: 'I cannot help with this request.', stop: 'content_filter' },
  json: { text: /^\{"ok":true,"messages":1\}$/, stop: 'stop' },
  slow: { text: /^Hi$/, stop: 'stop' },
  empty: { text: /^$/, stop: 'length' },
  flaky: { text: /^The first attempt failed, this one works\.$/, stop: 'stop' },
}

/** In Messages the words of a refusal are text, and in Responses they complete the answer. */
const common = ({ text, refusal, reasoning, calls, stop }: Reading): Omit<Reading, 'sources' | 'usage'> => ({
  text: text === refusal ? '' : text,
  refusal,
  reasoning,
  calls: calls.map((call) => ({ ...call, id: '' })),
  stop: refusal === '' ? stop : 'content_filter',
})

for (const [name, { text, reasoning = /^$/, refusal = '', calls = [], stop }] of Object.entries(REPORTED)) {
  describe(`sandbox/${name}`, () => {
    for (const client of CLIENT_DIALECTS) {
      test(`${client}: what its script says, streamed with one end, and whole alike`, async () => {
        const streamed = await play(client, true, name)
        expect(streamed.internalErrors).toEqual([])
        expect(readStream(client, streamed.text)).toEqual({ end: 'normal', faults: [] })
        const reported = common(await readAnswer(OWN_DIALECT[client], true, streamed.text))
        expect(reported.text).toMatch(text)
        expect(reported.reasoning).toMatch(reasoning)
        expect(reported.calls.map((call) => call.name)).toEqual([...calls])
        expect(reported).toMatchObject({ refusal, stop })
        const whole = await play(client, false, name)
        expect(common(await readAnswer(OWN_DIALECT[client], false, whole.text))).toEqual(reported)
      })
    }
  })
}

describe('sandbox models that fail', () => {
  for (const name of ['cut', 'midstream/provider_overloaded', 'error/rate_limit_exceeded']) {
    for (const client of CLIENT_DIALECTS) {
      test(`${client}: ${name} ends the stream with one error event`, async () => {
        const { text, broken } = await play(client, true, name)
        expect(broken).toBe(false)
        expect(readStream(client, text)).toEqual({ end: 'error', faults: [] })
      })
    }
  }
})
