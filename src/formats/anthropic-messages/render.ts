/** Renders a whole message (docs/contract/messages.md#answer). */
import type { Frame } from '../../canonical/event.ts'
import type { GatewayError } from '../../errors.ts'
import { eachInSteps, startPace, type Steps } from '../../lib/steps.ts'
import { dialectId, metadataMember } from '../answer-parts.ts'
import { BlockSequence } from '../block-sequence.ts'
import { watchEnding } from '../ending.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { blockText, collectBlocks, sizeOfBlock } from './content-blocks.ts'
import { relayAnswer } from './relay-answer.ts'
import { renderError } from './render-error.ts'
import { besideDelta, endingUsage, stopMembers } from './stop.ts'
import { thinkingBehindText } from './unasked-thinking.ts'

/** This dialect cannot show a failure next to content, so a failed answer is rendered as its error. */
export function* renderAnswer(head: AnswerHead, answer: Frame, tail: AnswerTail, failure: GatewayError | null = null): Steps<string> {
  if (failure !== null) return renderError(failure, head, tail).body
  const ending = watchEnding()
  if (answer.native?.dialect === 'messages') {
    for (const event of answer.events) ending.see(event)
    return yield* relayAnswer(head, answer.native.json, ending, tail)
  }
  const content = collectBlocks()
  const sink = thinkingBehindText(content, head)
  const blocks = new BlockSequence(sink)
  const isStep = startPace()
  for (const event of answer.events) {
    ending.see(event)
    blocks.push(event)
    if (isStep()) yield
  }
  blocks.end()
  sink.end()
  const start = { id: dialectId('msg', head), type: 'message', role: 'assistant', model: head.model, provider: head.provider }
  const end = { ...stopMembers(ending), ...besideDelta(ending), usage: endingUsage(tail, ending), ...metadataMember(tail) }
  const isCut = ending.reason === 'length' || ending.reason === 'content_filter'
  const written = yield* eachInSteps(content.blocks, (block) => blockText(block, isCut), sizeOfBlock)
  return `${JSON.stringify(start).slice(0, -1)},"content":[${written.join(',')}],${JSON.stringify(end).slice(1)}`
}
