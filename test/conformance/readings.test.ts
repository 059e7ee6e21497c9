/** A client reads in our answer what the provider sent, for every pair of dialects. Both sides are read with the official SDKs. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readAnswer, type Reading } from '../support/read-answer.ts'
import { ALL_RECORDINGS, fails, type Recording, type UpstreamDialect } from '../support/recordings.ts'
import { OWN_DIALECT, replayReply, typeOf } from '../support/replay.ts'

/** A reading, reduced to what every dialect can express. */
const common = ({ text, refusal, reasoning, calls, stop, sources, usage }: Reading, withIds: boolean): unknown => ({
  // Messages has no part for a refusal: its text is ordinary text there, and the stop reason says so. The break between two texts depends
  // on the dialect (text-breaks.test.ts).
  said: text.replaceAll('\n\n', '') + (text.includes(refusal) ? '' : refusal),
  reasoning: reasoning.replaceAll(/\s+/g, ' ').trim(),
  calls: calls.map(({ id, name, arguments: args }) => ({
    ...(withIds ? { id: id.replace(/^pb1_text_/, '') } : {}),
    name,
    arguments: args,
  })),
  stop: refusal === '' ? stop : 'content_filter',
  sources: [...new Set(sources)].toSorted(),
  usage: usage === null ? null : { input: usage.input, cacheRead: usage.cacheRead, output: usage.output },
})

const read = (dialect: UpstreamDialect, { stream }: Recording, body: string): Promise<Reading> | Reading =>
  readAnswer(dialect, stream, body)

for (const recording of ALL_RECORDINGS.filter((each) => !fails(each))) {
  const { dialect, name, stream, bytes, payloads } = recording
  describe(`${dialect}/${name}, ${stream ? 'stream' : 'whole'}`, () => {
    for (const client of CLIENT_DIALECTS) {
      test(`${client} finds the same text, thinking, calls, sources, end and use`, async () => {
        const theirs = await read(dialect, recording, dialect === 'bedrock' ? payloads.join('\n') : new TextDecoder().decode(bytes))
        const answer = await replayReply(client, dialect, { type: typeOf(stream), pieces: [bytes] })
        const ours = await read(OWN_DIALECT[client], recording, answer.text)
        // Google's older models give calls no ids, so the ids are ours.
        const withIds = theirs.calls.every(({ id }) => id !== '')
        expect(common(ours, withIds)).toEqual(common(theirs, withIds))
        if (ours.usage?.reasoning != null && theirs.usage?.reasoning != null) expect(ours.usage.reasoning).toBe(theirs.usage.reasoning)
        expect(new Set(ours.calls.map(({ id }) => id)).size).toBe(ours.calls.length)
      })
    }
  })
}
