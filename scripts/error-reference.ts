/** The part of docs/errors.md on each error type. Its bodies are rendered by the service's own code from failures of the sandbox. */
import { usageOf } from '../src/canonical/usage.ts'
import { NO_COST } from '../src/canonical/cost.ts'
import { ERROR_TYPES, errorRow, type ErrorType, type GatewayError } from '../src/errors.ts'
import { messagesFormat } from '../src/formats/anthropic-messages/anthropic-messages.ts'
import type { AnswerHead, AnswerTail, ClientFormat } from '../src/formats/format.ts'
import { inWholeTexts } from '../src/formats/with-texts.ts'
import { chatFormat } from '../src/formats/openai-chat/openai-chat.ts'
import { responsesFormat } from '../src/formats/openai-responses/openai-responses.ts'
import { errorHeaders } from '../src/http/error-boundary.ts'
import { JsonBody } from '../src/lib/json/json-body.ts'
import { SseDecoder } from '../src/lib/network/sse.ts'
import { sandboxError } from '../src/providers/sandbox/sandbox-error.ts'
import { ERROR_ADVICE } from './error-advice.ts'

const INTERFACES: readonly (readonly [string, ClientFormat])[] = [
  ['Chat Completions', chatFormat],
  ['Responses', responsesFormat],
  ['Messages', messagesFormat],
]

const headOf = (model: string): AnswerHead => ({
  generationId: 'gen-1795222973-UDUdxJNBrJYIXwJ7',
  createdSeconds: 1_795_222_973,
  model,
  provider: 'Sandbox',
  request: JsonBody.read('{}'),
  inputTokensEstimate: 9,
})

const TAIL: AnswerTail = { usage: usageOf({ inputFresh: 9 }), cost: NO_COST, endedSeconds: 1_795_222_974, metadata: null }

const failing = (kind: 'error' | 'midstream', type: ErrorType): { readonly error: GatewayError; readonly head: AnswerHead } => {
  const model = `sandbox/${kind}/${type}`
  const error = sandboxError(type, model)
  return {
    error: type === 'content_policy_violation' ? error.withMetadata({ flagged_input: 'How do I …' }) : error,
    head: headOf(model),
  }
}

const wholeBody = (format: ClientFormat, type: ErrorType): unknown => {
  const { error, head } = failing('error', type)
  return JSON.parse(format.renderError(error, head, TAIL).body)
}

/** The last event of a stream that had already sent content. */
const lastEvent = (format: ClientFormat, type: ErrorType): unknown => {
  const { error, head } = failing('midstream', type)
  const stream = inWholeTexts(format.openStream(head))
  const text = stream.frames([{ events: [{ type: 'text', text: 'Lorem ipsum' }] }]) + stream.fail(error, TAIL)
  const events = new SseDecoder().push(new TextEncoder().encode(text)).filter(({ data }) => data !== '[DONE]')
  return JSON.parse(events.at(-1)?.data ?? 'null')
}

/** The members of a response that describe its failure; the others echo the request. */
const SHOWN: ReadonlySet<string> = new Set(['id', 'object', 'status', 'error', 'incomplete_details', 'output', 'error_type'])

const shown = (body: unknown): unknown => {
  if (typeof body !== 'object' || body === null) return body
  if ('object' in body && body.object === 'response') return Object.fromEntries(Object.entries(body).filter(([key]) => SHOWN.has(key)))
  return 'response' in body ? { ...body, response: shown(body.response) } : body
}

const json = (body: unknown): string => JSON.stringify(shown(body), null, 1).replace(/\n\s*/g, ' ')

const section = (type: ErrorType): string => {
  const { status, failover, message } = errorRow(type)
  const { meaning, advice } = ERROR_ADVICE[type]
  const { error } = failing('error', type)
  const retryAfter = errorHeaders(error)['retry-after']
  const bodies = INTERFACES.map(
    ([name, format]) =>
      `${name}, before the stream and in it:\n\n\`\`\`json\n${json(wholeBody(format, type))}\n\`\`\`\n\n\`\`\`json\n${json(lastEvent(format, type))}\n\`\`\``,
  )
  return [
    `### \`${type}\``,
    meaning,
    [
      `- Status: ${status}${retryAfter === undefined ? '' : ', with `Retry-After`'}`,
      `- Another provider is tried: ${failover === 'elsewhere' ? 'yes' : 'no'}`,
      `- What to do: ${advice}`,
      `- Where nothing more is known, the message is: ${message}`,
      `- To try it: \`sandbox/error/${type}\`, \`sandbox/midstream/${type}\``,
    ].join('\n'),
    `<details><summary>Bodies</summary>\n\n${bodies.join('\n\n')}\n\n</details>`,
  ].join('\n\n')
}

export const errorReference = (): string => ERROR_TYPES.map(section).join('\n\n')
