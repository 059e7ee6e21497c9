/**
 * Faults that hurt the users of other gateways (docs/contract/streams.md#reading-providers): how providers frame and count their output.
 */
import { describe, expect, test } from 'bun:test'

import { StreamEvents$inboundSchema } from '@openrouter/sdk/models/streamevents.js'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { streamEvents } from '../support/client-stream.ts'
import { readAnswer } from '../support/read-answer.ts'
import { recording, SSE_DIALECTS, UPSTREAM_DIALECTS } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply } from '../support/replay.ts'
import { chunk, everywhere, readings, reported, USAGE } from '../support/upstream-replies.ts'

const encoder = new TextEncoder()

describe('what arrives', () => {
  const framings: Readonly<Record<string, (frames: string) => string>> = {
    'comments between and inside events': (text) => `: ping - 1\n\n${text.replaceAll('\n\n', '\n: ping - 2\n\n')}`,
    CRLF: (text) => text.replaceAll('\n', '\r\n'),
    'lone CR': (text) => text.replaceAll('\n', '\r'),
    '`data:` without a space': (text) => text.replaceAll('data: ', 'data:'),
    'data over several lines': (text) => text.replaceAll(/^data: \{/gm, 'data: {\ndata: '),
    'a BOM': (text) => `\u{feff}${text}`,
    'id and retry fields': (text) => text.replaceAll(/^data: /gm, 'id: 7\nretry: 1000\ndata: '),
    'empty data': (text) => `data:\n\n${text}`,
  }

  for (const [name, reframe] of Object.entries(framings)) {
    test(`${name}, whole and byte by byte`, async () => {
      for (const dialect of SSE_DIALECTS) {
        const { bytes } = recording(dialect, 'length', true)
        const reframed = encoder.encode(reframe(new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')))
        for (const client of CLIENT_DIALECTS) {
          const plain = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [bytes] })
          const single = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [reframed] })
          const bytewise = await replayReply(client, dialect, {
            type: 'text/event-stream',
            pieces: Array.from(reframed, (_, at) => reframed.subarray(at, at + 1)),
          })
          expect(streamEvents(single.text)).toEqual(streamEvents(plain.text))
          expect((await readAnswer(OWN_DIALECT[client], true, bytewise.text)).text).toBe('Once upon a time 🦊')
        }
      }
    })
  }

  const usages: Readonly<Record<string, readonly object[]>> = {
    'in the last chunk': [chunk({ content: 'x' }), chunk({}, 'stop'), { ...chunk({}), choices: [], usage: USAGE }],
    'in every chunk': [chunk({ content: 'x' }, null, { usage: { ...USAGE, completion_tokens: 1 } }), chunk({}, 'stop', { usage: USAGE })],
    "in a vendor's field": [chunk({ content: 'x' }), chunk({}, 'stop', { x_groq: { usage: USAGE } })],
    'in the choice': [chunk({ content: 'x' }), { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }] }],
  }

  for (const [name, chunks] of Object.entries(usages)) {
    test(`usage ${name}`, async () => {
      everywhere(await readings('openai-chat', reported('openai-chat', ...chunks)), ({ usage }) =>
        expect(usage).toMatchObject({ input: 7, output: 3 }),
      )
    })
  }

  test('no usage at all is no fault', async () => {
    everywhere(await readings('openai-chat', reported('openai-chat', chunk({ content: 'x' }), chunk({}, 'stop'))), ({ text }) =>
      expect(text).toBe('x'),
    )
  })

  test('every Responses event passes a strict schema, and the numbers run from 0 without a gap', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      const { text } = await replayReply('responses', dialect, {
        type: 'text/event-stream',
        pieces: [recording(dialect, 'parallel-calls', true).bytes],
      })
      const events = streamEvents(text)
      expect(events.map(({ data }) => at(data, 'sequence_number'))).toEqual(events.map((_, index) => index))
      for (const { data } of events) if (dialect !== 'openai-responses') StreamEvents$inboundSchema.parse(data)
      for (const { data } of events.filter(({ name }) => name === 'response.output_item.added'))
        if (at(data, 'item', 'type') === 'message') expect(at(data, 'item', 'content')).toEqual([])
    }
  })

  test('an answer cut at its length says so, streamed and whole', async () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      for (const streamed of [true, false]) {
        const { bytes } = recording(dialect, 'length', streamed)
        for (const client of CLIENT_DIALECTS) {
          const { text } = await replayReply(client, dialect, {
            type: streamed ? 'text/event-stream' : 'application/json',
            pieces: [bytes],
          })
          expect((await readAnswer(OWN_DIALECT[client], streamed, text)).stop).toBe('length')
        }
      }
    }
  })
})
