/** Properties that hold for every pair of dialects, whatever a model says, in whatever pieces (docs/contract/streams.md#lifecycle). */
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readStream } from '../support/client-stream.ts'
import { readAnswer } from '../support/read-answer.ts'
import { UPSTREAM_DIALECTS } from '../support/recordings.ts'
import { OWN_DIALECT, question, replay, replayReply } from '../support/replay.ts'
import { reportedAnswers, reportedBytes } from '../support/reported-answers.ts'

const runs = { numRuns: 40 }
const sse = 'text/event-stream'

for (const dialect of UPSTREAM_DIALECTS) {
  for (const client of CLIENT_DIALECTS) {
    describe(`${dialect} → ${client}`, () => {
      test('text, thinking, arguments, the end and the use are what the model told, and the stream ends once', async () => {
        await fc.assert(
          fc.asyncProperty(reportedAnswers, fc.infiniteStream(fc.integer({ min: 1, max: 400 })), async (reported, sizes) => {
            const bytes = reportedBytes(dialect, reported)
            const pieces: Uint8Array[] = []
            for (let at = 0; at < bytes.length;) {
              const size = sizes.next().value ?? 1
              pieces.push(bytes.subarray(at, at + size))
              at += size
            }
            const { text, internalErrors } = await replayReply(client, dialect, { type: sse, pieces })
            expect(internalErrors).toEqual([])
            expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
            const reading = await readAnswer(OWN_DIALECT[client], true, text)
            expect(reading.text).toBe(reported.text.join(''))
            expect(reading.reasoning).toBe(reported.thinking.join(''))
            expect(reading.calls).toEqual(reported.calls.map(({ id, name, args }) => ({ id, name, arguments: args })))
            expect(reading.stop).toBe(reported.stop === 'length' ? 'length' : reported.calls.length > 0 ? 'tool_calls' : 'stop')
            expect(reading.usage).toMatchObject({ input: reported.input, output: reported.output })
          }),
          runs,
        )
      })

      test('a prefix and a cut end in one error, or, where the end had come, in that', async () => {
        await fc.assert(
          fc.asyncProperty(reportedAnswers, fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean(), async (reported, share, cut) => {
            const bytes = reportedBytes(dialect, reported)
            const prefix = bytes.subarray(0, Math.floor(share * bytes.length))
            const { text, broken } = await replayReply(client, dialect, { type: sse, pieces: prefix.length === 0 ? [] : [prefix], cut })
            expect(broken).toBe(false)
            const { end, faults } = readStream(client, text)
            expect(faults).toEqual([])
            const ended = /"finish_reason":"|"stop_reason":"|"type":"response\.(?:completed|incomplete)"|"finishReason"|messageStop/.test(
              new TextDecoder().decode(prefix),
            )
            if (!ended) expect(end).toBe('error')
          }),
          runs,
        )
      })

      test('an upstream that streams where a whole answer was asked for is answered whole', async () => {
        await fc.assert(
          fc.asyncProperty(reportedAnswers, async (reported) => {
            const reply = { type: sse, pieces: [reportedBytes(dialect, reported)] } as const
            const { text } = await replay({ client, upstreams: [{ dialect, reply }], body: question(client, false) })
            const reading = await readAnswer(OWN_DIALECT[client], false, text)
            expect(reading.text).toBe(reported.text.join(''))
            expect(reading.reasoning).toBe(reported.thinking.join(''))
            expect(reading.calls).toEqual(reported.calls.map(({ id, name, args }) => ({ id, name, arguments: args })))
            expect(reading.usage).toMatchObject({ input: reported.input, output: reported.output })
          }),
          { numRuns: 15 },
        )
      })
    })
  }
}
