/** Decodes one content block of an answer: its beginning, its pieces and its end. */
import type { ModelEvent } from '../../canonical/event.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject, objectsIn, textOf } from '../../lib/json/json.ts'
import { callArguments } from '../tools/call-arguments.ts'

type Json = Readonly<Record<string, unknown>>

export interface BlockDecoder {
  /** `start`: of a block that is announced; blocks of text and of thinking are not announced. */
  open(start: Json): ModelEvent[]
  delta(delta: Json): ModelEvent[]
  close(): ModelEvent[]
}

export interface BlockContext {
  /** The index of the next tool call. */
  nextCall(): number
  /** UTF-16 units of text in the blocks before. */
  readonly textStart: number
  /** The model that thought; null if its proof could not be recognised later. */
  readonly provenBy: string | null
}

export const openBlock = ({ nextCall, textStart, provenBy }: BlockContext): BlockDecoder => {
  let call: { readonly index: number; bare: boolean } | null = null
  // These are sources of the text of the block, of which more may come.
  const citations: Json[] = []
  let textLength = 0
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
      // Tools that the provider runs itself: what the model makes of their results is in its text.
      if (!isObject(toolUse) || !CLIENT_TOOLS.has(toolUse['type'])) return unknownOf(start)
      const index = nextCall()
      call = { index, bare: true }
      return [{ type: 'tool-call', index, id: textOf(toolUse['toolUseId']) || `call_${index}`, name: textOf(toolUse['name']) }]
    },
    delta(delta) {
      const { toolUse, reasoningContent, citation, image } = delta
      if (typeof delta['text'] === 'string') {
        textLength += delta['text'].length
        return said('text', delta['text'])
      }
      if (isObject(reasoningContent)) return thought(reasoningContent)
      if (isObject(citation)) citations.push(citation)
      if (isObject(citation)) return []
      if (isObject(image)) {
        const source = isObject(image['source']) ? image['source'] : {}
        picture ??= { format: 'png', pieces: [] }
        picture.pieces.push(textOf(source['bytes']))
        return []
      }
      if (!isObject(toolUse)) return unknownOf(delta)
      const json = callArguments(toolUse['input'])
      if (call === null || json === '') return []
      call.bare = false
      return [{ type: 'tool-arguments', index: call.index, json }]
    },
    close() {
      if (call?.bare === true) return [{ type: 'tool-arguments', index: call.index, json: '{}' }]
      if (picture !== null) return [pictureEvent(picture)]
      if (thinking !== null) return [{ type: 'reasoning-end', proof: proofOf(thinking, provenBy) }]
      return citations.map((citation) => citationEvent(citation, { start: textStart, end: textStart + textLength }))
    },
  }
}

/** Decodes a whole block: its members are the same, except those whose pieces have another form. */
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
    const texts = objectsIn(citationsContent['content']).flatMap((piece) => decoder.delta({ text: piece['text'] }))
    const sources = objectsIn(citationsContent['citations']).flatMap((citation) => decoder.delta({ citation }))
    return [...texts, ...sources, ...decoder.close()]
  }
  if (isObject(image)) return [...decoder.open(block), ...decoder.delta(block), ...decoder.close()]
  return typeof block['text'] === 'string' ? decoder.delta(block) : unknownOf(block)
}

/** The type of a call that the client runs; the API's model lists only `server_tool_use`, but it sends the other one too. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([undefined, null, 'tool_use'])

const said = (type: 'text' | 'reasoning', value: unknown): ModelEvent[] => {
  const text = textOf(value)
  return text === '' ? [] : [{ type, text }]
}

/** `block`: a block, its beginning or a piece of it, whose member names what it is. */
const unknownOf = (block: Json): ModelEvent[] => Object.keys(block).map((kind) => ({ type: 'unknown', kind }))

const proofOf = (
  { signature, redacted }: { signature: string; redacted: readonly string[] },
  model: string | null,
): ReasoningProof | null => {
  if (model === null) return null
  if (redacted.length > 0) return { format: 'anthropic-claude-v1', kind: 'encrypted', data: joinedBase64(redacted), model }
  return signature === '' ? null : { format: 'anthropic-claude-v1', kind: 'signature', data: signature, model }
}

/** A single piece is kept byte for byte. */
const joinedBase64 = (pieces: readonly string[]): string =>
  pieces.length === 1 ? (pieces[0] ?? '') : Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64')

/** A picture that was withheld has no bytes (ImageBlock, "error") and does not count as one. */
const pictureEvent = ({ format, pieces }: { readonly format: string; readonly pieces: readonly string[] }): ModelEvent => {
  const data = joinedBase64(pieces)
  return data === '' ? { type: 'unknown', kind: 'image' } : { type: 'image', url: `data:image/${format};base64,${data}` }
}

/** Sources on the web have an address; those in the client's own documents have none that another dialect could express. */
const citationEvent = (citation: Json, place: { readonly start: number; readonly end: number }): ModelEvent => {
  const { location } = citation
  const web = isObject(location) && isObject(location['web']) ? textOf(location['web']['url']) : ''
  const source = textOf(citation['source'])
  const url = web || (/^https?:/.test(source) ? source : '')
  if (url === '') return { type: 'unknown', kind: 'citation' }
  const content = objectsIn(citation['sourceContent'])
    .map((piece) => textOf(piece['text']))
    .join('')
  return { type: 'citation', citation: { url, title: textOf(citation['title']) || null, content: content || null, ...place } }
}
