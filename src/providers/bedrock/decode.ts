/**
 * Decodes the answer of Converse, whole or as the events of a stream, into the canonical form. It is tolerant: it reads only the fields
 * that mean something.
 */
import { type FinishReason, type ModelEvent, UNEXPLAINED_REFUSAL } from '../../canonical/event.ts'
import { isObject, listOf } from '../../lib/json/json.ts'
import type { Target } from '../provider.ts'
import { openBlock, wholeBlock, type BlockContext, type BlockDecoder } from './decode-block.ts'
import { factsOf } from './model-facts.ts'
import { decodeUsage, streamedCounts } from './decode-usage.ts'

type Json = Readonly<Record<string, unknown>>

/** State that spans the events of one answer. */
export interface ConverseDecoder {
  /** `name`: of an event of the stream; `payload`: its data. */
  event(name: string, payload: Json): ModelEvent[]
  whole(body: Json): ModelEvent[]
}

/** `requestId` is the only id that Converse gives an answer. */
export const createConverseDecoder = (target: Target, requestId: string | null): ConverseDecoder => {
  let calls = 0
  let textLength = 0
  /** Claude's own counts, which come before Converse's. */
  let details: unknown
  const blocks = new Map<unknown, BlockDecoder>()
  const provenBy = factsOf(target).rules.claude ? target.modelId : null
  const here = (): BlockContext => ({ nextCall: () => calls++, textStart: textLength, provenBy })
  const counted = (events: ModelEvent[]): ModelEvent[] => {
    for (const event of events) if (event.type === 'text') textLength += event.text.length
    return events
  }
  const blockAt = (index: unknown): BlockDecoder => {
    const known = blocks.get(index)
    if (known !== undefined) return known
    const opened = openBlock(here())
    blocks.set(index, opened)
    return opened
  }
  const start: ModelEvent = { type: 'start', upstreamId: requestId }
  return {
    event(name, payload) {
      const index = payload['contentBlockIndex']
      switch (name) {
        case 'messageStart':
          return [start]
        case 'contentBlockStart':
          return isObject(payload['start']) ? blockAt(index).open(payload['start']) : []
        case 'contentBlockDelta':
          return isObject(payload['delta']) ? counted(blockAt(index).delta(payload['delta'])) : []
        case 'contentBlockStop': {
          const closed = blocks.get(index)?.close() ?? []
          blocks.delete(index)
          return closed
        }
        case 'messageStop': {
          // Blocks that the model left open end with the message.
          const closed = [...blocks.values()].flatMap((block) => block.close())
          blocks.clear()
          details = detailsOf(payload)
          return [...closed, ...endOf(payload)]
        }
        case 'metadata':
          return isObject(payload['usage'])
            ? [{ type: 'usage', usage: decodeUsage(streamedCounts(payload['usage'], target), payload['serviceTier'], details) }]
            : []
        default:
          return [] // an event that is newer than this release
      }
    },
    whole(body) {
      const { output, usage } = body
      const message = isObject(output) && isObject(output['message']) ? output['message'] : {}
      const content = listOf(message['content'])
      return [
        start,
        ...content.filter(isObject).flatMap((block) => counted(wholeBlock(block, here()))),
        ...(isObject(usage) ? [{ type: 'usage', usage: decodeUsage(usage, body['serviceTier'], detailsOf(body)) } as const] : []),
        ...endOf(body),
      ]
    },
  }
}

/** Bedrock itself could not read the model's output: this is a failure and not an answer. */
export const isMalformed = (stopReason: unknown): stopReason is string =>
  stopReason === 'malformed_model_output' || stopReason === 'malformed_tool_use'

const FINISH: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['refusal', 'content_filter'],
])

const detailsOf = ({ additionalModelResponseFields: fields }: Json): unknown =>
  isObject(fields) && isObject(fields['usage']) ? fields['usage']['output_tokens_details'] : undefined

const endOf = ({ stopReason, additionalModelResponseFields: fields }: Json): ModelEvent[] => {
  const native = typeof stopReason === 'string' && stopReason !== '' ? stopReason : null
  const asked = isObject(fields) ? (isObject(fields['delta']) ? fields['delta'] : fields)['stop_sequence'] : undefined
  const stopSequence = typeof asked === 'string' && native === 'stop_sequence' ? { stopSequence: asked } : {}
  return [
    ...(native === 'refusal' ? [{ type: 'refusal', text: UNEXPLAINED_REFUSAL, uncounted: true } as const] : []),
    { type: 'finish', reason: FINISH.get(native ?? '') ?? 'stop', native, ...stopSequence },
  ]
}
