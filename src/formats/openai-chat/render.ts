/** Renders a whole chat completion (docs/contract/chat-completions.md#answer). */
import { isLargeAnswer } from '../../canonical/answer-parts.ts'
import { type Frame, type ModelEvent, PARAGRAPH_BREAK } from '../../canonical/event.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { GatewayError } from '../../errors.ts'
import { JsonTextError } from '../../lib/json/json-limits.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { errorMetadataMember, metadataMember, tierMember } from '../answer-parts.ts'
import { type Ending, watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { signatureOfCall } from './call-signature.ts'
import { annotation, fileAnnotation, image, logprobs } from './message-parts.ts'
import { joinDetails, createReasoningDetails } from './reasoning-details.ts'
import { relayAnswer } from './relay-answer.ts'
import { errorMember } from './render-error.ts'
import { chatUsage } from './usage.ts'

/** Returns the upstream's own JSON if it speaks this dialect and did not fail; otherwise the answer built from its events. */
export function* renderAnswer(head: AnswerHead, answer: Frame, tail: AnswerTail, failure: GatewayError | null = null): Steps<string> {
  if (answer.native?.dialect === 'chat' && failure === null) {
    try {
      return yield* relayAnswer(head, answer.native.json, answer.events, tail)
    } catch (error) {
      // Text that is not a plain JSON object (for example, a member occurs twice) is not relayed; the answer is built from its events.
      if (!(error instanceof JsonTextError)) throw error
    }
  }
  const completion = chatCompletion(head, answer, tail, failure)
  if (!isLargeAnswer(answer)) return JSON.stringify(completion)
  yield
  return yield* writeInSteps(completion)
}

const chatCompletion = (head: AnswerHead, answer: Frame, tail: AnswerTail, failure: GatewayError | null): JsonObject => {
  const ending = watchEnding()
  for (const event of answer.events) ending.see(event)
  return {
    id: head.generationId,
    object: 'chat.completion',
    created: head.createdSeconds,
    model: head.model,
    provider: head.provider,
    system_fingerprint: null,
    ...tierMember(tail),
    ...ending.own('chat'),
    choices: [choice(answer, ending, failure)],
    usage: chatUsage(tail),
    // The error is also placed here, as in every failure: clients look for `error` in any body
    // (docs/contract/errors.md#provider-failures).
    ...(failure === null ? metadataMember(tail) : { error: errorMember(failure), ...errorMetadataMember(failure, tail) }),
  }
}

const choice = (answer: Frame, ending: Ending, failure: GatewayError | null): JsonObject => ({
  index: 0,
  message: message(answer),
  logprobs: probabilities(answer),
  finish_reason: failure === null ? ending.reason : 'error',
  native_finish_reason: ending.native,
  ...(failure === null ? {} : { error: errorMember(failure) }),
})

const message = (answer: Frame): JsonObject => {
  let content: string | null = null
  let reasoning: string | null = null
  let refusal: string | null = null
  const details = createReasoningDetails()
  const pieces: JsonObject[] = []
  const annotations: JsonObject[] = []
  const images: JsonObject[] = []
  const calls = new Map<number, GatheredCall>()
  for (const event of [...answer.events, FINISH]) {
    pieces.push(...details.pieces(event))
    if (event.type === 'text') content = (content ?? '') + event.text
    else if (event.type === 'text-break') content = (content ?? '') + PARAGRAPH_BREAK
    else if (event.type === 'reasoning') reasoning = (reasoning ?? '') + event.text
    else if (event.type === 'refusal') refusal = (refusal ?? '') + event.text
    else if (event.type === 'citation') annotations.push(annotation(event.citation, content?.length ?? 0))
    else if (event.type === 'file-text') annotations.push(fileAnnotation(event.file))
    else if (event.type === 'image') images.push(image(event.url, images.length))
    else if (event.type === 'server-tool-end')
      images.push(...(event.outcome.pictures ?? []).map((url, at) => image(url, images.length + at)))
    else if (event.type === 'tool-call') calls.set(event.index, { ...event, arguments: '' })
    else if (event.type === 'tool-arguments') {
      const call = calls.get(event.index)
      if (call !== undefined) call.arguments += event.json
    }
  }
  return {
    role: 'assistant',
    // Null if the message has calls or a refusal instead; an answer without any output has empty content.
    content: content ?? (calls.size > 0 || refusal !== null ? null : ''),
    refusal,
    ...(reasoning === null ? {} : { reasoning }),
    ...(pieces.length === 0 ? {} : { reasoning_details: joinDetails(pieces) }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images }),
    ...(calls.size === 0 ? {} : { tool_calls: [...calls.values()].map(toolCall) }),
  }
}

/** Closes thinking that an answer without an end leaves open. */
const FINISH: ModelEvent = { type: 'finish', reason: 'stop', native: null }

const probabilities = (answer: Frame): JsonObject | null => {
  const content = answer.events.flatMap((event) => (event.type === 'logprobs' ? event.content : []))
  return content.length === 0 ? null : logprobs(content)
}

interface GatheredCall {
  readonly id: string
  readonly name: string
  readonly custom?: true
  readonly proof?: ReasoningProof
  arguments: string
}

/** A call without arguments gets an empty object: clients parse the text as JSON without checking. */
const toolCall = ({ id, name, custom, proof, arguments: args }: GatheredCall): JsonObject =>
  custom === true
    ? { id, type: 'custom', custom: { name, input: args } }
    : { id, type: 'function', function: { name, arguments: args === '' ? '{}' : args }, ...signatureOfCall(proof) }
