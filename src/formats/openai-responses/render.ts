/** Renders a whole response (docs/contract/responses.md#answer). */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { errorMetadataMember, metadataMember } from '../answer-parts.ts'
import { startPace, type Steps } from '../../lib/steps.ts'
import { BlockSequence } from '../block-sequence.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { outcomeOf, outcomeOfFailure } from './outcome.ts'
import { OutputItems } from './output-items.ts'
import { relayAnswer } from './relay-answer.ts'
import { responseWriter } from './response-object.ts'

export function* renderAnswer(head: AnswerHead, answer: Frame, tail: AnswerTail, failure: GatewayError | null = null): Steps<string> {
  if (answer.native?.dialect === 'responses' && failure === null) return yield* relayAnswer(head, answer.native.json, tail)
  const ending = watchEnding()
  const items = new OutputItems(head, () => {})
  const blocks = new BlockSequence(items)
  /** JSON text of the output text, without its quotes. */
  let text = ''
  const isStep = startPace()
  for (const event of answer.events) {
    ending.see(event)
    blocks.push(event)
    if (event.type === 'text') text += JSON.stringify(event.text).slice(1, -1)
    if (isStep(event.type === 'text' ? event.text.length : 0)) yield
  }
  const outcome = failure === null ? outcomeOf(ending) : outcomeOfFailure(failure)
  if (outcome.status !== 'completed') items.cutShort()
  blocks.end()
  items.closeLast()
  // `closeLast` and the writer each concatenate long texts, so they are separate steps.
  yield
  return responseWriter(head)({
    outcome,
    output: items.done,
    tail,
    outputText: `"${text}"`,
    more: failure === null ? { ...ending.own('responses'), ...metadataMember(tail) } : errorMetadataMember(failure, tail),
  })
}
