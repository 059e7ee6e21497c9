/** A client reads the same, and pays the same, in a whole answer as in a stream, whichever of the two its provider gave. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readAnswer } from '../support/read-answer.ts'
import { ALL_RECORDINGS, fails } from '../support/recordings.ts'
import { OWN_DIALECT, question, replay, typeOf } from '../support/replay.ts'

for (const recording of ALL_RECORDINGS.filter((each) => !fails(each))) {
  const { dialect, name, stream, bytes } = recording
  describe(`${dialect}/${name}, ${stream ? 'stream' : 'whole'}`, () => {
    test.each(CLIENT_DIALECTS)('%s', async (client) => {
      const read = async (asked: boolean): Promise<unknown> => {
        const reply = { type: typeOf(stream), pieces: [bytes] } as const
        const { text } = await replay({ client, upstreams: [{ dialect, reply }], body: question(client, asked) })
        const { usage, calls, ...reading } = await readAnswer(OWN_DIALECT[client], asked, text)
        return {
          ...reading,
          // Claude explains a refusal beside its content; an answer that is rendered says the explanation as well.
          text: reading.refusal === '' ? reading.text : reading.text.replace(reading.refusal, ''),
          // Ids that the provider left out are ours.
          calls: calls.map(({ name: called, arguments: json }) => [called, json]),
          usage: usage === null ? null : { ...usage, reasoning: usage.reasoning ?? 0 },
          cost: [...text.matchAll(/"cost":\s*([\d.e+-]+)/g)].at(-1)?.[1],
        }
      }
      expect(await read(true)).toEqual(await read(false))
    })
  })
}
