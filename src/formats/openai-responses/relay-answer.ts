/** Relays a whole response of an upstream that speaks this dialect: its own text except for the members that the service owns. */
import type { JsonBody } from '../../lib/json/json-body.ts'
import type { JsonChanges } from '../../lib/json/json.ts'
import { addedMembers, dialectId } from '../answer-parts.ts'
import type { Steps } from '../../lib/steps.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { mergedUsage } from '../merged-usage.ts'
import { bodyOfParsed, identityMembers } from '../relay-text.ts'
import { completeOutput } from './complete-item.ts'
import { missingOfResponse, shownTools } from './response-object.ts'
import { responsesUsage } from './usage.ts'

/** `native` is JSON text that the adapter has already parsed. */
export function* relayAnswer(head: AnswerHead, native: string, tail: AnswerTail): Steps<string> {
  const response = bodyOfParsed(native)
  yield
  return yield* relayedResponse(head, response, tail)
}

/** Returns the response object that ends an answer, whole or streamed. */
export function* relayedResponse(head: AnswerHead, response: JsonBody, tail: AnswerTail): Steps<string> {
  const output = response.raw('output')
  return response.textWith({
    ...missingOfResponse(response, head, tail.endedSeconds),
    ...responseIdentity(head),
    ...(output === undefined ? {} : { output: yield* completeOutput(output) }),
    usage: mergedUsage(response.raw('usage') ?? null, responsesUsage(tail)),
    ...addedMembers(response, tail),
  })
}

/** An upstream echoes the instructions and the tools that it was sent; the client must not read what a preset hides in them. */
export const responseIdentity = (head: AnswerHead): JsonChanges => ({
  ...identityMembers(dialectId('resp', head), head),
  ...(head.instructions === undefined ? {} : { instructions: JSON.stringify(head.instructions), tools: JSON.stringify(shownTools(head)) }),
})
