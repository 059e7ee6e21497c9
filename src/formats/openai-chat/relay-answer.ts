/** A whole answer of an upstream that speaks this dialect itself: its own text, but for the members that are ours. */
import type { ModelEvent } from '../../canonical/event.ts'
import { JsonBody } from '../../lib/json-body.ts'
import { addedMembers } from '../answer-parts.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { mergedUsage } from '../merged-usage.ts'
import { missingMembers } from '../missing-members.ts'
import { identityMembers } from '../relay-text.ts'
import { choicesText, completeChoice, finishedChoice, readChoices } from './choices.ts'
import { chatUsage } from './usage.ts'
import type { JsonChanges } from '../../lib/json.ts'
import { eachInSteps, mapInSteps, type Steps } from '../../lib/steps.ts'

/** `native` is JSON that the adapter has parsed. Throws JsonTextError where it is not one plain JSON object. */
export function* relayAnswer(head: AnswerHead, native: string, events: readonly ModelEvent[], tail: AnswerTail): Steps<string> {
  const body = JsonBody.ofParsed(native)
  yield
  const ending = watchEnding()
  for (const event of events) ending.see(event)
  const choices = readChoices(body.raw('choices') ?? '[]')
  yield
  const completed = yield* eachInSteps([...choices.entries()], ([position, choice]) => completeChoice(choice, position), sizeOfChoice)
  return body.textWith({
    ...identityMembers(head.generationId, head),
    ...envelopeRepairs(body, 'chat.completion', head),
    choices: choicesText(yield* mapInSteps(completed, (choice) => finishedChoice(choice, ending))),
    usage: mergedUsage(body.raw('usage') ?? null, chatUsage(tail)),
    ...missingMembers(body, { system_fingerprint: 'null' }),
    ...addedMembers(body, tail),
  })
}

const sizeOfChoice = ([, choice]: readonly [number, JsonBody]): number => choice.searchable.length

/** The members that strict clients need and some vendors leave out or blank. */
export const envelopeRepairs = (body: JsonBody, object: string, head: AnswerHead): JsonChanges => ({
  ...(body.get('object') === object ? {} : { object: JSON.stringify(object) }),
  ...(Number.isInteger(body.get('created')) ? {} : { created: String(head.createdSeconds) }),
  // A null error means that there is none, but clients that look for the key see one.
  ...(body.get('error') === null ? { error: null } : {}),
})
