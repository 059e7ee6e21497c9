/** A stream that breaks at any byte: before the first content another provider answers it whole, after that none does. */
import { expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readStream } from '../support/client-stream.ts'
import { ALL_RECORDINGS, fails, ownFaults, UPSTREAM_DIALECTS } from '../support/recordings.ts'
import { question, replay, type Reply } from '../support/replay.ts'
import { chunk, reported } from '../support/upstream-replies.ts'

const SPARE: Reply = reported('openai-chat', chunk({ role: 'assistant', content: 'From the spare.' }), chunk({}, 'stop'))
/** The most positions of a stream that are tried; in a shorter stream all are. */
const POSITIONS_MAX = 500

for (const dialect of UPSTREAM_DIALECTS) {
  const [shortest] = ALL_RECORDINGS.filter((each) => each.dialect === dialect && each.stream && !fails(each)).sort(
    (a, b) => a.bytes.length - b.bytes.length,
  )
  for (const client of CLIENT_DIALECTS) {
    for (const cut of [false, true]) {
      test(`${dialect} → ${client}, ${cut ? 'reset' : 'closed'} behind every byte`, async () => {
        if (shortest === undefined) throw new Error('There is no recording.')
        let delivered = false
        const step = Math.ceil(shortest.bytes.length / POSITIONS_MAX)
        for (let at = 0; at < shortest.bytes.length; at += step) {
          const reply: Reply = { type: 'text/event-stream', pieces: at === 0 ? [] : [shortest.bytes.subarray(0, at)], cut }
          const { text, sent, run } = await replay({
            client,
            upstreams: [
              { dialect, reply },
              { dialect: 'openai-chat', reply: SPARE },
            ],
            body: question(client, true),
          })
          const { end, faults } = readStream(client, text)
          expect(faults.filter((fault) => sent.length === 2 || !ownFaults(shortest).test(fault))).toEqual([])
          if (sent.length === 2) {
            expect([end, text.includes('From the spare.'), delivered]).toEqual(['normal', true, false])
            expect(run?.log.attempts.map(({ error }) => error?.type ?? null)).toEqual(['provider_unavailable', null])
          } else {
            // From the first byte of content on, there is this answer or none.
            delivered = true
            expect(text).not.toContain('From the spare.')
            expect(end === 'error' || run?.log.error === null).toBe(true)
          }
        }
        expect(delivered).toBe(true)
      }, 300_000)
    }
  }
}
