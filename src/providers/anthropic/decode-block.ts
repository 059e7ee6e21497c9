/** Decodes one content block: its beginning, its pieces and its end. */
import type { ModelEvent } from '../../canonical/event.ts'
import { isObject, textOf } from '../../lib/json/json.ts'
import { LARGE_BYTES } from '../../lib/steps.ts'
import { pickArguments } from '../tools/arguments-pieces.ts'
import { callArguments } from '../tools/call-arguments.ts'

type Json = Readonly<Record<string, unknown>>

export interface BlockDecoder {
  delta(delta: Json): ModelEvent[]
  close(): ModelEvent[]
}

interface Opened {
  readonly events: ModelEvent[]
  readonly decoder: BlockDecoder
}

/** `before`: the calls and the UTF-16 units of text before the block. `modelId`: the model that thinks. */
export const openBlock = (block: Json, before: { readonly calls: number; readonly textLength: number }, modelId: string): Opened => {
  switch (block['type']) {
    case 'text':
      return openText(block, before.textLength)
    case 'thinking':
      return openThinking(block, modelId)
    case 'redacted_thinking': {
      const proof = { format: 'anthropic-claude-v1', kind: 'encrypted', data: textOf(block['data']), model: modelId } as const
      return { events: [{ type: 'reasoning-end', proof }], decoder: SILENT }
    }
    case 'tool_use':
      return openToolUse(block, before.calls)
    default:
      // The provider's own tools, and block types that are newer than this release: what the model makes of them is in its text.
      return { events: [{ type: 'unknown', kind: textOf(block['type']) }], decoder: SILENT }
  }
}

const SILENT: BlockDecoder = { delta: () => [], close: () => [] }

/** The sources of a block come before its text but refer to it, so they wait for its end. */
const openText = (block: Json, textStart: number): Opened => {
  const citations: Json[] = Array.isArray(block['citations']) ? block['citations'].filter(isObject) : []
  const opened = said('text', block['text'])
  let length = textOf(block['text']).length
  return {
    events: opened,
    decoder: {
      delta: (delta) => {
        if (delta['type'] === 'text_delta') {
          length += textOf(delta['text']).length
          return said('text', delta['text'])
        }
        if (delta['type'] !== 'citations_delta' || !isObject(delta['citation'])) return unread(delta)
        citations.push(delta['citation'])
        return []
      },
      close: () => citations.map((reported) => citation(reported, { start: textStart, end: textStart + length })),
    },
  }
}

const openThinking = (block: Json, modelId: string): Opened => {
  let signature = textOf(block['signature'])
  return {
    events: said('reasoning', block['thinking']),
    decoder: {
      delta: (delta) => {
        if (delta['type'] === 'thinking_delta') return said('reasoning', delta['thinking'])
        if (delta['type'] !== 'signature_delta') return unread(delta)
        signature = textOf(delta['signature'])
        return []
      },
      close: () => [
        {
          type: 'reasoning-end',
          proof: signature === '' ? null : { format: 'anthropic-claude-v1', kind: 'signature', data: signature, model: modelId },
        },
      ],
    },
  }
}

/**
 * Arguments come in pieces, or whole at the beginning of the block, or both, of which the pieces count, as for Anthropic's clients; a call
 * without any has an empty object.
 */
const openToolUse = (block: Json, index: number): Opened => {
  const id = textOf(block['id']) || `call_${index}`
  const opened: ModelEvent = { type: 'tool-call', index, id, name: textOf(block['name']) }
  const { input } = block
  const pieces = pickArguments()
  let waiting = ''
  let isBare = true
  const given = (json: string): ModelEvent[] => {
    if (json === '') return []
    isBare = false
    return [{ type: 'tool-arguments', index, json }]
  }
  return {
    events: [opened],
    decoder: {
      delta: (delta) => {
        if (delta['type'] !== 'input_json_delta') return unread(delta)
        const piece = textOf(delta['partial_json'])
        const { json, voids } = pieces.take(piece, piece.length <= LARGE_BYTES)
        const told = voids ? json : waiting + json
        waiting = pieces.isEmptyObject ? told : ''
        return pieces.isEmptyObject ? [] : given(told)
      },
      close: () => (isBare ? given(waiting || callArguments(input) || '{}') : []),
    },
  }
}

/** A piece of a type that is newer than this release, or that does not belong into the block. */
const unread = (delta: Json): ModelEvent[] => [{ type: 'unknown', kind: textOf(delta['type']) }]

const said = (type: 'text' | 'reasoning', value: unknown): ModelEvent[] => {
  const text = textOf(value)
  return text === '' ? [] : [{ type, text }]
}

/** Sources on the web have an address; those in the client's own documents have none that another dialect could express. */
const citation = (reported: Json, place: { readonly start: number; readonly end: number }): ModelEvent => {
  const url = textOf(reported['url']) || textOf(reported['source'])
  if (url === '') return { type: 'unknown', kind: textOf(reported['type']) }
  return {
    type: 'citation',
    citation: { url, title: textOf(reported['title']) || null, content: textOf(reported['cited_text']) || null, ...place },
  }
}
