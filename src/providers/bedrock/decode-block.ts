/** One content block of an answer, as it opens, grows and closes. */
import type { ModelEvent } from '../../canonical/event.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject } from '../../lib/json.ts'
import { callArguments } from '../call-arguments.ts'

type Json = Readonly<Record<string, unknown>>

export interface BlockDecoder {
  /** `start` of a block that is announced; blocks of text and of thinking are not. */
  open(start: Json): ModelEvent[]
  delta(delta: Json): ModelEvent[]
  close(): ModelEvent[]
}

export interface BlockContext {
  /** The index of the next tool call. */
  nextCall(): number
  /** The model that thought; null where its proof could not be recognised again. */
  readonly provenBy: string | null
}

export const openBlock = ({ nextCall, provenBy }: BlockContext): BlockDecoder => {
  let call: { readonly index: number; bare: boolean } | null = null
  let thinking: { signature: string; readonly redacted: string[] } | null = null
  let picture: { readonly format: string; readonly pieces: string[] } | null = null

  const thought = (delta: Json): ModelEvent[] => {
    thinking ??= { signature: '', redacted: [] }
    thinking.signature += textOf(delta['signature'])
    const redacted = textOf(delta['redactedContent'])
    if (redacted !== '') thinking.redacted.push(redacted)
    return said('reasoning', delta['text'])
  }

  return {
    open(start) {
      const { toolUse, image } = start
      if (isObject(image)) picture = { format: textOf(image['format']) || 'png', pieces: [] }
      if (isObject(image)) return []
      // Tools that the provider runs itself: what the model makes of them is in its text.
      if (!isObject(toolUse) || textOf(toolUse['type']) !== '') return unknownOf(start)
      const index = nextCall()
      call = { index, bare: true }
      return [{ type: 'tool-call', index, id: textOf(toolUse['toolUseId']) || `call_${index}`, name: textOf(toolUse['name']) }]
    },
    delta(delta) {
      const { toolUse, reasoningContent, citation, image } = delta
      if (typeof delta['text'] === 'string') return said('text', delta['text'])
      if (isObject(reasoningContent)) return thought(reasoningContent)
      if (isObject(citation)) return [citationEvent(citation)]
      if (isObject(image)) {
        const source = isObject(image['source']) ? image['source'] : {}
        picture ??= { format: 'png', pieces: [] }
        picture.pieces.push(textOf(source['bytes']))
        return []
      }
      const json = isObject(toolUse) ? callArguments(toolUse['input']) : ''
      if (call === null || json === '') return []
      call.bare = false
      return [{ type: 'tool-arguments', index: call.index, json }]
    },
    close() {
      if (call?.bare === true) return [{ type: 'tool-arguments', index: call.index, json: '{}' }]
      if (picture !== null) return [{ type: 'image', url: `data:image/${picture.format};base64,${joinedBase64(picture.pieces)}` }]
      return thinking === null ? [] : [{ type: 'reasoning-end', proof: proofOf(thinking, provenBy) }]
    },
  }
}

/** A whole block: the same members, but for those whose pieces have another shape. */
export const wholeBlock = (block: Json, context: BlockContext): ModelEvent[] => {
  const decoder = openBlock(context)
  const { toolUse, reasoningContent, citationsContent, image } = block
  if (isObject(toolUse)) {
    return [...decoder.open(block), ...decoder.delta(block), ...decoder.close()]
  }
  if (isObject(reasoningContent)) {
    const readable = isObject(reasoningContent['reasoningText']) ? reasoningContent['reasoningText'] : reasoningContent
    return [...decoder.delta({ reasoningContent: readable }), ...decoder.close()]
  }
  if (isObject(citationsContent)) {
    const texts = objectsOf(citationsContent['content']).flatMap((piece) => said('text', piece['text']))
    return [...texts, ...objectsOf(citationsContent['citations']).map(citationEvent)]
  }
  if (isObject(image)) return [...decoder.open(block), ...decoder.delta(block), ...decoder.close()]
  return typeof block['text'] === 'string' ? decoder.delta(block) : unknownOf(block)
}

const said = (type: 'text' | 'reasoning', value: unknown): ModelEvent[] => {
  const text = textOf(value)
  return text === '' ? [] : [{ type, text }]
}

const unknownOf = (block: Json): ModelEvent[] => [{ type: 'unknown', kind: Object.keys(block)[0] ?? 'block' }]

const proofOf = (
  { signature, redacted }: { signature: string; redacted: readonly string[] },
  model: string | null,
): ReasoningProof | null => {
  if (model === null) return null
  if (redacted.length > 0) return { format: 'anthropic-claude-v1', kind: 'encrypted', data: joinedBase64(redacted), model }
  return signature === '' ? null : { format: 'anthropic-claude-v1', kind: 'signature', data: signature, model }
}

/** One piece stays as it came, to the byte. */
const joinedBase64 = (pieces: readonly string[]): string =>
  pieces.length === 1 ? (pieces[0] ?? '') : Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64')

/** Sources on the web have an address; those in the client's own documents have none that another dialect could name. */
const citationEvent = (citation: Json): ModelEvent => {
  const { location } = citation
  const web = isObject(location) && isObject(location['web']) ? textOf(location['web']['url']) : ''
  const source = textOf(citation['source'])
  const url = web || (/^https?:/.test(source) ? source : '')
  if (url === '') return { type: 'unknown', kind: 'citation' }
  const content = objectsOf(citation['sourceContent'])
    .map((piece) => textOf(piece['text']))
    .join('')
  return { type: 'citation', citation: { url, title: textOf(citation['title']) || null, content: content || null, start: null, end: null } }
}

const objectsOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : [])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
