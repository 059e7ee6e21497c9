/** Thinking is hidden if the client asked for that, whatever the provider sends (docs/contract/requests.md#reasoning). */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { readAnswer, type Reading } from '../support/read-answer.ts'
import { ALL_RECORDINGS, fails, type Recording } from '../support/recordings.ts'
import { OWN_DIALECT, question, replay, typeOf } from '../support/replay.ts'

const HIDING: Readonly<Record<ClientDialect, readonly object[]>> = {
  chat: [{ reasoning: { exclude: true } }, { include_reasoning: false }],
  responses: [{ reasoning: { exclude: true } }],
  messages: [{ thinking: { type: 'adaptive', display: 'omitted' } }],
}

const answered = async (client: ClientDialect, { dialect, stream, bytes }: Recording, more: object): Promise<string> => {
  const upstreams = [{ dialect, reply: { type: typeOf(stream), pieces: [bytes] } }]
  return (await replay({ client, upstreams, body: { ...question(client, stream), ...more } })).text
}

/** The text as the JSON of an answer has it; each piece of a stream has at least a few characters of it. */
const inJson = (text: string): string => JSON.stringify(text.slice(0, 24)).slice(1, -1)

const withoutThinking = (reading: Reading): object => ({ ...reading, reasoning: '' })

for (const recording of ALL_RECORDINGS.filter((each) => !fails(each))) {
  const { dialect, name, stream } = recording
  describe(`${dialect}/${name}, ${stream ? 'stream' : 'whole'}`, () => {
    for (const client of CLIENT_DIALECTS) {
      for (const wish of HIDING[client]) {
        test(`${client}: ${JSON.stringify(wish)} leaves out the thinking and nothing else`, async () => {
          const shown = await readAnswer(OWN_DIALECT[client], stream, await answered(client, recording, {}))
          const text = await answered(client, recording, wish)
          const hidden = await readAnswer(OWN_DIALECT[client], stream, text)
          expect(hidden.reasoning).toBe('')
          if (!stream && shown.reasoning !== '' && !shown.text.includes(shown.reasoning.slice(0, 24)))
            expect(text).not.toContain(inJson(shown.reasoning))
          expect(withoutThinking(hidden)).toEqual(withoutThinking(shown))
        })
      }
    }
  })
}

test('the recordings have thinking to hide, from every dialect', async () => {
  const thinking = new Set<string>()
  for (const recording of ALL_RECORDINGS.filter((each) => !fails(each))) {
    const { reasoning } = await readAnswer('openai-chat', recording.stream, await answered('chat', recording, {}))
    if (reasoning !== '') thinking.add(`${recording.dialect} ${recording.stream ? 'stream' : 'whole'}`)
  }
  expect([...thinking]).toEqual(
    expect.arrayContaining([
      ...['anthropic', 'bedrock', 'openai-chat', 'openai-responses'].flatMap((dialect) => [`${dialect} stream`, `${dialect} whole`]),
      'google stream',
    ]),
  )
})
