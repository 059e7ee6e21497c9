/** Every stream of every pair follows its dialect: framing, numbering, closing, a single end. */
import { describe, expect, test } from 'bun:test'

import { ChatStreamChunk$inboundSchema } from '@openrouter/sdk/models/chatstreamchunk.js'
import { StreamEvents$inboundSchema } from '@openrouter/sdk/models/streamevents.js'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { ALL_RECORDINGS, fails, ownFaults } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply } from '../support/replay.ts'

for (const recording of ALL_RECORDINGS.filter(({ stream }) => stream)) {
  const { dialect, name, bytes } = recording
  describe(`${dialect}/${name}`, () => {
    for (const client of CLIENT_DIALECTS) {
      const relayed = OWN_DIALECT[client] === dialect
      test(`${client}: one lifecycle, one end`, async () => {
        const { text, broken, internalErrors } = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [bytes] })
        expect(internalErrors).toEqual([])
        expect(broken).toBe(false)
        const { end, faults } = readStream(client, text)
        expect(faults.filter((fault) => !relayed || !ownFaults(recording).test(fault))).toEqual([])
        expect(end).toBe(fails(recording) ? 'error' : 'normal')
      })

      if (client !== 'messages')
        test(`${client}: each event passes the strict schemas of @openrouter/sdk`, async () => {
          const { text } = await replayReply(client, dialect, { type: 'text/event-stream', pieces: [bytes] })
          const schema = client === 'chat' ? ChatStreamChunk$inboundSchema : StreamEvents$inboundSchema
          for (const { data } of streamEvents(text)) expect(JSON.stringify(schema.parse(data))).not.toContain('"UNKNOWN"')
        })
    }
  })
}
