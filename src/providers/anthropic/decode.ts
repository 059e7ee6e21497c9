/**
 * Decodes Messages from upstreams, whole or as stream events, into the canonical form. It is tolerant: it reads only what means something.
 */
import { type FinishReason, type ModelEvent, UNEXPLAINED_REFUSAL } from '../../canonical/event.ts'
import { isObject, type JsonObject, type JsonValue, listOf, textOf } from '../../lib/json/json.ts'
import { ownMembers } from '../own-members.ts'
import { openBlock, type BlockDecoder } from './decode-block.ts'
import { KeptBlocks } from './kept-blocks.ts'
import { decodeUsage, mergeUsage, noUsage, startedUsage } from './decode-usage.ts'
import { wordSet } from '../../lib/text/word-set.ts'

type Json = Readonly<Record<string, unknown>>

/** State that spans one answer. */
export interface MessagesDecoder {
  /** One event of a stream. */
  event(event: Json): ModelEvent[]
  /** A whole message. */
  message(message: Json): ModelEvent[]
}

/**
 * `modelId`: our id of the model that answers. `keeps`: the blocks are kept as they came, because the model may have to get its turn back.
 */
export const createMessagesDecoder = (modelId: string, keeps = false): MessagesDecoder => {
  const kept = keeps ? new KeptBlocks() : null
  const open = new Map<number, BlockDecoder>()
  const thinking = new Set<number>()
  const usage = noUsage()
  /** Claude ran code in a container, which has a fee of its own. */
  let ranCode = false
  let calls = 0
  let textLength = 0
  let finished = false
  /** The message as it began. */
  let begun: Json = {}

  const used = (reported: unknown): ModelEvent[] => {
    if (!isObject(reported)) return []
    mergeUsage(usage, reported)
    return [{ type: 'usage', usage: { ...decodeUsage(usage), containers: ranCode ? 1 : 0 } }]
  }

  const counted = (events: ModelEvent[]): ModelEvent[] => {
    for (const event of events) if (event.type === 'text') textLength += event.text.length
    return events
  }

  const begin = (block: unknown): { events: ModelEvent[]; decoder: BlockDecoder | null } => {
    if (!isObject(block)) return { events: [], decoder: null }
    const { events, decoder } = openBlock(block, { calls, textLength }, modelId)
    if (block['type'] === 'tool_use') calls += 1
    return { events: counted(events), decoder }
  }

  const closeAll = (indexes: Iterable<number>): ModelEvent[] =>
    [...indexes].flatMap((index) => {
      const decoder = open.get(index)
      open.delete(index)
      thinking.delete(index)
      return decoder?.close() ?? []
    })

  const end = (reported: Json): ModelEvent[] => {
    const native = textOf(reported['stop_reason'])
    if (native === '' || finished) return []
    finished = true
    const closed = closeAll(open.keys())
    const details = isObject(reported['stop_details']) ? textOf(reported['stop_details']['explanation']) : ''
    const sequence = reported['stop_sequence']
    const own = kept?.blocks()
    return [
      ...closed,
      ...(native === 'refusal' ? [{ type: 'refusal', text: details || UNEXPLAINED_REFUSAL, uncounted: true } as const] : []),
      {
        type: 'finish',
        reason: STOP_REASONS[native] ?? 'stop',
        native,
        ...(typeof sequence === 'string' ? { stopSequence: sequence } : {}),
        ...(own === undefined ? {} : { own }),
      },
    ]
  }

  const blocks = (message: Json): ModelEvent[] =>
    listOf(message['content']).flatMap((block, index) => {
      kept?.open(index, block)
      const { events, decoder } = begin(block)
      return [...events, ...(decoder?.close() ?? [])]
    })

  const read = (event: Json): ModelEvent[] => {
    const index = typeof event['index'] === 'number' ? event['index'] : 0
    switch (event['type']) {
      case 'message_start': {
        begun = isObject(event['message']) ? event['message'] : {}
        ranCode ||= isObject(begun['container'])
        // A call that code in Claude's own container makes may come with the beginning, which is then the whole message.
        return [
          start(begun),
          ...ownMembers('messages', begun, ownUsage(begun['usage'])),
          ...blocks(begun),
          ...used(isObject(begun['usage']) ? startedUsage(begun['usage']) : null),
        ]
      }
      case 'content_block_start': {
        // Imitations leave blocks open. Thinking must be closed before the block that follows it, or its signature would be lost.
        const ended = closeAll(thinking)
        kept?.open(index, event['content_block'])
        const { events, decoder } = begin(event['content_block'])
        if (decoder !== null) open.set(index, decoder)
        const type = isObject(event['content_block']) ? textOf(event['content_block']['type']) : ''
        if (type === 'thinking') thinking.add(index)
        // A client that leaves now pays for the container.
        const ran = !ranCode && CODE_RESULT.test(type)
        ranCode ||= ran
        return ended.length === 0 && !ran ? events : [...ended, ...events, ...(ran ? used({}) : [])]
      }
      case 'content_block_delta':
        kept?.grow(index, event['delta'])
        return isObject(event['delta']) ? counted(open.get(index)?.delta(event['delta']) ?? []) : []
      case 'content_block_stop': {
        return closeAll([index])
      }
      case 'message_delta': {
        const delta = isObject(event['delta']) ? event['delta'] : null
        ranCode ||= isObject(delta?.['container'])
        const own = ownMembers(
          'messages',
          { ...event, container: delta?.['container'] },
          { ...ownEnd(delta ?? {}), ...ownUsage(event['usage']) },
        )
        return [...used(event['usage']), ...own, ...(delta === null ? [] : end(delta))]
      }
      case 'message_stop': {
        if (finished) return []
        const ended = end(begun)
        finished = true
        return ended.length > 0 ? ended : [...closeAll(open.keys()), { type: 'finish', reason: 'stop', native: null }]
      }
      default:
        return []
    }
  }

  return {
    event: read,
    message(message) {
      ranCode ||= isObject(message['container'])
      const said = blocks(message)
      const ended = end(message)
      const finish: ModelEvent[] = ended.length > 0 ? ended : [{ type: 'finish', reason: 'stop', native: null }]
      const own = ownMembers('messages', message, { ...ownEnd(message), ...ownUsage(message['usage']) })
      return [start(message), ...said, ...used(message['usage']), ...own, ...finish]
    },
  }
}

/** Events that this release knows; others are not passed on, because strict clients fail on them. */
export const KNOWN_EVENTS: ReadonlySet<unknown> = wordSet(
  'message_start content_block_start content_block_delta content_block_stop message_delta message_stop',
)

/** Results of code, and of commands and edits, that Claude ran in a container. */
const CODE_RESULT = /code_execution_tool_result$/

const FULL_CONTEXT = 'model_context_window_exceeded'

const STOP_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  // The turn is not over: the client has to send it back, so that the model continues it.
  pause_turn: 'length',
  compaction: 'length',
  max_tokens: 'length',
  [FULL_CONTEXT]: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** The end of a message in words that no other dialect has: what a refusal has beside its explanation, and a full context. */
const ownEnd = ({ stop_reason: reason, stop_details: reported }: Json): JsonObject => {
  if (reason === FULL_CONTEXT) return { stop_reason: reason }
  if (!isObject(reported)) return {}
  const details = REFUSAL_DETAILS.flatMap((name): [string, JsonValue][] => {
    const value = reported[name] ?? null
    return typeof value === 'string' ? [[name, value]] : []
  })
  return details.length === 0 ? {} : { stop_details: Object.fromEntries(details) }
}

const ownUsage = (reported: unknown): JsonObject => {
  const { fallback_credit: credit, iterations, speed } = isObject(reported) ? reported : {}
  const usage = {
    ...(isObject(credit) ? { fallback_credit: credit } : {}),
    ...(Array.isArray(iterations) ? { iterations } : {}),
    ...(speed === 'fast' || speed === 'standard' ? { speed } : {}),
  }
  // Safe: the answer was parsed from JSON.
  return Object.keys(usage).length === 0 ? {} : { usage: usage as JsonObject }
}

/** The claim that the content can be continued is left out: what is rendered here is not the content that Claude would continue. */
const REFUSAL_DETAILS = ['category', 'fallback_credit_token', 'recommended_model'] as const

const start = (message: Json): ModelEvent => ({
  type: 'start',
  upstreamId: textOf(message['id']) || null,
})
