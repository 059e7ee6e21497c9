/** An upstream that breaks off, at whatever point, never looks like one that ended. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readStream } from '../support/client-stream.ts'
import { bytesUntilEnd } from '../support/cut-points.ts'
import { ALL_RECORDINGS, fails, ownFaults } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply } from '../support/replay.ts'
import { positions } from '../support/seeded.ts'

const SAMPLE = 60

for (const recording of ALL_RECORDINGS.filter((each) => each.stream && !fails(each))) {
  const { dialect, name, bytes } = recording
  describe(`${dialect}/${name}`, () => {
    const end = bytesUntilEnd(recording)
    for (const client of CLIENT_DIALECTS) {
      const relayed = OWN_DIALECT[client] === dialect
      for (const reset of [false, true]) {
        test(`${client}: ${reset ? 'a broken connection' : 'a clean close'} before the end is an error event and [DONE]`, async () => {
          for (const at of positions(end, SAMPLE, end + Number(reset))) {
            const { text, broken } = await replayReply(client, dialect, {
              type: 'text/event-stream',
              pieces: [bytes.subarray(0, at)],
              cut: reset,
            })
            const stream = readStream(client, text)
            if (broken || stream.end !== 'error')
              throw new Error(`Cut at ${at} of ${end}: ${stream.end} ${stream.faults.join('; ')}\n${text}`)
            expect(stream.faults.filter((fault) => !relayed || !ownFaults(recording).test(fault))).toEqual([])
          }
        }, 300_000)
      }

      test(`${client}: a clean close behind the end is the end`, async () => {
        const blankLine = bytes[end] === 13 ? 4 : 2
        const terminal = end + (dialect === 'bedrock' ? 0 : blankLine)
        const { text } = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [bytes.subarray(0, terminal)] })
        expect(readStream(client, text).end).toBe('normal')
      })
    }
  })
}
