/** Relays a whole answer of an upstream that speaks this dialect: its own text except for the members that the service owns. */
import type { ModelEvent } from '../../canonical/event.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { addedMembers } from '../answer-parts.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { mergedUsage } from '../merged-usage.ts'
import { missingMembers } from '../missing-members.ts'
import { identityMembers } from '../relay-text.ts'
import { choicesText, completeChoice, finishedChoice, readChoices } from './choices.ts'
import { chatUsage } from './usage.ts'
import type { JsonChanges } from '../../lib/json/json.ts'
import { eachInSteps, mapInSteps, type Steps } from '../../lib/steps.ts'

/** `native` is JSON text that the adapter has already parsed. Throws JsonTextError if it is not one plain JSON object. */
export function* relayAnswer(head: AnswerHead, native: string, events: readonly ModelEvent[], tail: AnswerTail): Steps<string> {
  const body = JsonBody.ofParsed(native)
  yield
  const ending = watchEnding()
  for (const event of events) ending.see(event)
  const choices = readChoices(body.raw('choices') ?? '[]')
  yield
  const completed = yield* eachInSteps(choices, completeChoice, sizeOfChoice)
  return body.textWith({
    ...identityMembers(head.generationId, head),
    ...envelopeRepairs(body, 'chat.completion', head),
    choices: choicesText(yield* mapInSteps(completed, (choice) => finishedChoice(choice, ending))),
    usage: mergedUsage(body.raw('usage') ?? null, chatUsage(tail)),
    ...missingMembers(body, { system_fingerprint: 'null' }),
    ...addedMembers(body, tail),
  })
}

const sizeOfChoice = (choice: JsonBody): number => choice.held.length

/** Changes that add the members which strict clients need and some vendors omit or leave blank. */
export const envelopeRepairs = (body: JsonBody, object: string, head: AnswerHead): JsonChanges => ({
  object: body.get('object') === object ? undefined : JSON.stringify(object),
  created: Number.isInteger(body.get('created')) ? undefined : String(head.createdSeconds),
  // `error: null` means that there is no error, but clients that only test for the key would see one.
  error: body.get('error') === null ? null : undefined,
})
