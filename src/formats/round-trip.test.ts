/** A client sends the model's output back in its next request, where it must be read as what the model produced. */
import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { ClientDialect } from '../canonical/call.ts'
import { NO_COST } from '../canonical/cost.ts'
import type { ModelEvent } from '../canonical/event.ts'
import type { Part } from '../canonical/prompt.ts'
import { REASONING_FORMATS, type ReasoningProof } from '../canonical/reasoning.ts'
import { usageOf } from '../canonical/usage.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import { isObject } from '../lib/json/json.ts'
import type { AnswerHead, AnswerTail } from './format.ts'
import { atOnce } from '../lib/steps.ts'
import { FORMATS } from './formats.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const proof: fc.Arbitrary<ReasoningProof> = fc.constantFrom(...REASONING_FORMATS).chain((format) =>
  fc.record({ data: text }).map(({ data }): ReasoningProof => {
    if (format === 'google-gemini-v1') return { format, kind: 'signature', data }
    return format === 'anthropic-claude-v1' ? { format, kind: 'signature', data } : { format, kind: 'encrypted', data, id: 'rs_1' }
  }),
)
const redacted = text.map((data): ReasoningProof => ({ format: 'anthropic-claude-v1', kind: 'encrypted', data }))
const thinking = fc.oneof(fc.record({ text, proof }), fc.record({ text: fc.constant(''), proof: fc.oneof(proof, redacted) }))
const call = fc.record({ city: text, proof: fc.option(text, { nil: undefined }) })
const answer = fc.record({ thinking: fc.array(thinking, { maxLength: 3 }), said: fc.option(text), calls: fc.array(call, { maxLength: 3 }) })

type Answer = typeof answer extends fc.Arbitrary<infer Value> ? Value : never

const googleProof = (data: string): ReasoningProof => ({ format: 'google-gemini-v1', kind: 'signature', data })

const eventsOf = ({ thinking, said, calls }: Answer): ModelEvent[] => [
  { type: 'start', upstreamId: null },
  ...thinking.flatMap(({ text, proof }): ModelEvent[] => [
    ...(text === '' ? [] : [{ type: 'reasoning', text } as const]),
    { type: 'reasoning-end', proof },
  ]),
  ...(said === null ? [] : [{ type: 'text', text: said } as const]),
  ...calls.flatMap(({ city, proof }, index): ModelEvent[] => [
    { type: 'tool-call', index, id: `call_${index}`, name: 'weather', ...(proof === undefined ? {} : { proof: googleProof(proof) }) },
    { type: 'tool-arguments', index, json: JSON.stringify({ city }) },
  ]),
  { type: 'finish', reason: calls.length > 0 ? 'tool_calls' : 'stop', native: null },
]

const partsOf = ({ thinking, said, calls }: Answer): Part[] => [
  ...thinking.map(({ text, proof }): Part => ({ type: 'reasoning', text, proof })),
  ...(said === null ? [] : [{ type: 'text', text: said } as const]),
  ...calls.map(({ city, proof }, index): Part => ({
    type: 'tool-call',
    id: `call_${index}`,
    name: 'weather',
    arguments: JSON.stringify({ city }),
    ...(proof === undefined ? {} : { proof: googleProof(proof) }),
  })),
]

const HEAD: AnswerHead = {
  generationId: 'gen-1',
  createdSeconds: 1,
  model: 'a/b',
  provider: 'P',
  request: JsonBody.read('{"model":"a/b","thinking":{"type":"adaptive"}}'),
  inputTokensEstimate: 1,
}

const rendered = (dialect: ClientDialect, events: ModelEvent[]): Record<string, unknown> => {
  const tail: AnswerTail = { usage: usageOf({}), cost: NO_COST, metadata: null, endedSeconds: 2 }
  const body: unknown = JSON.parse(atOnce(FORMATS[dialect].renderAnswer(HEAD, { events }, tail, null)))
  return isObject(body) ? body : {}
}

const nextTurn = (dialect: ClientDialect, body: Record<string, unknown>): object => {
  const question = { role: 'user', content: 'What is the weather?' }
  if (dialect === 'responses') return { input: [question, ...(Array.isArray(body['output']) ? body['output'] : [])] }
  if (dialect === 'messages') return { messages: [question, { role: 'assistant', content: body['content'] }] }
  const choices: unknown = body['choices']
  const [choice]: unknown[] = Array.isArray(choices) ? choices : []
  return { messages: [question, isObject(choice) ? choice['message'] : null] }
}

describe.each(['chat', 'responses', 'messages'] as const)('%s', (dialect) => {
  test('an answer handed back is read as what the model said, every proof with it', () => {
    fc.assert(
      fc.property(answer, (answer) => {
        const body = { model: 'a/b', ...nextTurn(dialect, rendered(dialect, eventsOf(answer))) }
        const { messages } = atOnce(FORMATS[dialect].parseCall(JsonBody.read(JSON.stringify(body)))).call.prompt()
        const parts = messages
          .flatMap(({ role, parts }) => (role === 'assistant' ? parts : []))
          .filter((part) => part.type !== 'text' || part.text !== '')
        expect(parts).toEqual(partsOf(answer))
      }),
    )
  })
})
