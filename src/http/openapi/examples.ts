/** The examples in the API description. Answers and errors are written by the code that writes the real ones, so they stay true. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame } from '../../canonical/event.ts'
import { usageOf } from '../../canonical/usage.ts'
import type { AnswerHead, AnswerTail } from '../../formats/format.ts'
import { FORMATS } from '../../formats/formats.ts'
import { inWholeTexts } from '../../formats/with-texts.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { atOnce } from '../../lib/steps.ts'

export const exampleHead = (): AnswerHead => ({
  generationId: 'gen-4Qd1bVnT0uYkXw7sHc2LmR9p',
  createdSeconds: 1_767_225_600,
  model: 'openai/gpt-5.4',
  provider: 'OpenAI',
  request: JsonBody.read('{}'),
  inputTokensEstimate: 21,
})

/** The answer of each inference interface to its example request: whole, and as a stream. */
export const answerExamples = (dialect: ClientDialect): { readonly body: JsonObject; readonly stream: string } => {
  const format = FORMATS[dialect]
  const stream = inWholeTexts(format.openStream(exampleHead()))
  const text = FRAMES.map((frame) => stream.frames([frame])).join('') + stream.finish(TAIL)
  const answer: Frame = { events: FRAMES.flatMap(({ events }) => events) }
  return { body: JSON.parse(atOnce(format.renderAnswer(exampleHead(), answer, TAIL, null))) as JsonObject, stream: text }
}

const FRAMES: readonly Frame[] = [
  { events: [{ type: 'start', upstreamId: null }] },
  { events: [{ type: 'text', text: 'Reset it under ' }] },
  { events: [{ type: 'text', text: 'Settings → Security.' }] },
  { events: [{ type: 'finish', reason: 'stop', native: 'stop' }] },
]

const TAIL: AnswerTail = {
  usage: usageOf({ inputFresh: 21, output: 9 }),
  cost: {
    totalNanos: 116_250,
    isKnown: true,
    upstreamNanos: 116_250,
    upstreamInputNanos: 26_250,
    upstreamOutputNanos: 90_000,
    cacheSavedNanos: 0,
    isByok: false,
    customersNanos: 0,
  },
  endedSeconds: 1_767_225_602,
  metadata: null,
}

const MODEL = 'openai/gpt-5.4'
const PRESET = '@preset/support-bot'
const RULE = 'You answer questions of our customers, in two sentences at most.'
const QUESTION = 'How do I reset my password?'
const lookup = {
  name: 'find_order',
  description: 'Finds an order by its number.',
  parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
}

/** Request bodies of inference, by the name of their schema; those of management are defined with their schemas. */
export const BODY_EXAMPLES: Readonly<Record<string, JsonObject>> = {
  ChatRequest: { model: PRESET, messages: [{ role: 'user', content: QUESTION }] },
  ResponsesRequest: { model: PRESET, input: QUESTION },
  MessagesRequest: { model: PRESET, max_tokens: 1024, messages: [{ role: 'user', content: QUESTION }] },
  PresetFromChat: {
    model: MODEL,
    temperature: 0.3,
    messages: [{ role: 'system', content: RULE }],
    tools: [{ type: 'function', function: lookup }],
  },
  PresetFromResponses: {
    model: MODEL,
    instructions: RULE,
    reasoning: { effort: 'low' },
    provider: { allow_fallbacks: true, sort: 'price' },
    tools: [{ type: 'function', ...lookup }],
    locked: ['model'],
  },
  PresetFromMessages: { model: 'anthropic/claude-sonnet-4.5', max_tokens: 1024, system: RULE, temperature: 0.3 },
  EmbeddingsRequest: { model: 'openai/text-embedding-3-small', input: QUESTION },
}
