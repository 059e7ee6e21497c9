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

/** `native` is JSON that the adapter has parsed. Throws JsonTextError where it is not one plain JSON object. */
export const relayAnswer = (head: AnswerHead, native: string, events: readonly ModelEvent[], tail: AnswerTail): string => {
  const body = JsonBody.ofParsed(native)
  const ending = watchEnding()
  for (const event of events) ending.see(event)
  return body.textWith({
    ...identityMembers(head.generationId, head),
    ...envelopeRepairs(body, 'chat.completion', head),
    choices: choicesText(
      readChoices(body.raw('choices') ?? '[]').map((choice, position) => finishedChoice(completeChoice(choice, position), ending)),
    ),
    usage: mergedUsage(body.raw('usage') ?? null, chatUsage(tail)),
    ...missingMembers(body, { system_fingerprint: 'null' }),
    ...addedMembers(body, tail),
  })
}

/** The members that strict clients need and some vendors leave out or blank. */
export const envelopeRepairs = (body: JsonBody, object: string, head: AnswerHead): JsonChanges => ({
  ...(body.get('object') === object ? {} : { object: JSON.stringify(object) }),
  ...(Number.isInteger(body.get('created')) ? {} : { created: String(head.createdSeconds) }),
  // A null error means that there is none, but clients that look for the key see one.
  ...(body.get('error') === null ? { error: null } : {}),
})
