/** Thinking that a model wants back survives each client dialect: rendered in an answer and read in the next request. */
import { describe, expect, test } from 'bun:test'

import {
  args,
  call,
  CLAUDE,
  finish,
  GEMINI,
  HEAD,
  OPENAI,
  proven,
  reasoning,
  REDACTED,
  summary,
  TAIL,
  text,
} from '../../test/support/answers.ts'
import type { ModelEvent } from '../canonical/event.ts'
import type { Part } from '../canonical/prompt.ts'
import type { ReasoningProof } from '../canonical/reasoning.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { messagesFormat } from './anthropic-messages/anthropic-messages.ts'
import { chatFormat } from './openai-chat/openai-chat.ts'
import { responsesFormat } from './openai-responses/openai-responses.ts'
import { atOnce } from '../lib/steps.ts'

/** The parts of an answer, in any dialect, that a client sends back. */
interface Answer {
  readonly choices: readonly [{ readonly message: unknown }]
  readonly output: unknown
  readonly content: unknown
}

/** The next request of a client that sends the whole answer back. */
const NEXT = {
  chat: { format: chatFormat, body: (answer: Answer) => ({ model: 'm', messages: [answer.choices[0].message] }) },
  responses: { format: responsesFormat, body: (answer: Answer) => ({ model: 'm', input: answer.output }) },
  messages: {
    format: messagesFormat,
    body: (answer: Answer) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'assistant', content: answer.content }] }),
  },
}

for (const [dialect, { format, body }] of Object.entries(NEXT)) {
  /** The assistant's parts as they are read from the next request. */
  const returned = (...events: readonly ModelEvent[]): readonly Part[] => {
    const answer: Answer = JSON.parse(atOnce(format.renderAnswer(HEAD, { events }, TAIL, null)))
    const { call: next } = atOnce(format.parseCall(JsonBody.read(JSON.stringify(body(answer)))))
    return next.prompt().messages.flatMap((message) => message.parts)
  }

  describe(dialect, () => {
    // Chat has no place for the model that made a proof.
    const expected = (proof: ReasoningProof): ReasoningProof => {
      const { model, ...rest } = proof
      return dialect === 'chat' || model === undefined ? rest : { ...rest, model }
    }

    test.each([CLAUDE, OPENAI, GEMINI])('thinking with its proof: %j', (proof) => {
      const thinking = proof === OPENAI ? summary('hm') : reasoning('hm')
      const [first, second] = returned(thinking, proven(proof), text('Hi'), finish('stop'))
      expect(first).toMatchObject({ type: 'reasoning', text: 'hm', proof: expected(proof) })
      expect(second).toMatchObject({ type: 'text', text: 'Hi' })
    })

    test.each([CLAUDE, REDACTED, OPENAI, GEMINI])('a proof without readable thinking: %j', (proof) => {
      const [first] = returned(proven(proof), text('Hi'), finish('stop'))
      expect(first).toMatchObject({ type: 'reasoning', text: '', proof: expected(proof) })
    })

    test('the proof of a tool call stays with its call', () => {
      const parts = returned(call(0, 'a', GEMINI), args(0, '{}'), call(1, 'b'), args(1, '{}'), finish('tool_calls'))
      expect(parts.filter(({ type }) => type === 'tool-call')).toMatchObject([{ proof: expected(GEMINI) }, { id: 'call_1' }])
      expect(parts).toHaveLength(2)
    })
  })
}
