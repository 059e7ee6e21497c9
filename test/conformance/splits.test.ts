/** It does not matter where the network splits an upstream's bytes, even inside an event, a line end or a code point. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { ALL_RECORDINGS } from '../support/recordings.ts'
import { replayReply } from '../support/replay.ts'
import { positions } from '../support/seeded.ts'

/** Streams of up to this many bytes are split at every position. */
const SMALL = 1200
const SAMPLE = 200

for (const { dialect, name, bytes } of ALL_RECORDINGS.filter(({ stream }) => stream)) {
  describe(`${dialect}/${name}`, () => {
    for (const client of CLIENT_DIALECTS) {
      const answer = async (...pieces: readonly Uint8Array[]): Promise<string> => {
        const { text } = await replayReply(client, dialect, { type: 'text/event-stream', pieces })
        return text
      }

      test(`${client}: the same bytes whole, byte by byte, and split anywhere`, async () => {
        const whole = await answer(bytes)
        expect(whole).toContain('[DONE]')
        expect(await answer(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toBe(whole)
        for (const at of positions(bytes.length, bytes.length <= SMALL ? SMALL : SAMPLE)) {
          const split = await answer(bytes.subarray(0, at), bytes.subarray(at))
          if (split !== whole) throw new Error(`Split at ${at}: ${split}`)
        }
      }, 300_000)
    }
  })
}
