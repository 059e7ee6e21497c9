/** The parts of one message as content blocks. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { editMembers } from '../../lib/json-splice.ts'
import type { JsonObject } from '../../lib/json.ts'
import { uncarried } from '../uncarried.ts'
import { cacheMember, type EncodeContext } from './encode-context.ts'
import { documentBlock, imageBlock } from './encode-media.ts'

/** Its JSON text, so that arguments which a model wrote go back as it wrote them. */
export interface Block {
  readonly type: string
  readonly json: string
}

/** The facts of the blocks that the order of turns depends on. */
export const BLOCK_FORM = {
  resultType: 'tool_result',
  thinking: new Set(['thinking', 'redacted_thinking']),
  textOf: ({ type, json }: Block): string | null => (type === 'text' ? (JSON.parse(json) as { readonly text: string }).text : null),
  withText: (text: string, block?: Block): Block => ({
    type: 'text',
    json: block === undefined ? JSON.stringify({ type: 'text', text }) : editMembers(block.json, { text: JSON.stringify(text) }),
  }),
}

/** A field that the dialect has no word for is told and left out. */
export const encodeParts = (message: Message, context: EncodeContext): Block[] => {
  const at = message.at ?? 'messages'
  if (message.name !== undefined) context.lose(`${at}.name`, `${context.target.providerName} has no names of speakers; it was left out.`)
  return message.parts.flatMap((part) => {
    const encoded = encodePart(part, message.role, at, context)
    return encoded === null ? [] : [encoded]
  })
}

const encodePart = (part: Part, role: Message['role'], at: string, context: EncodeContext): Block | null => {
  const { providerName } = context.target
  const lost = (): null => {
    uncarried(part, { at, role }, context)
    return null
  }
  switch (part.type) {
    case 'text':
      if ((part.annotations ?? []).length > 0)
        context.lose(at, `The sources of an earlier answer mean nothing to ${providerName}; they were left out.`)
      return textBlock(part, at, context)
    case 'refusal':
      return textBlock(part, at, context)
    case 'reasoning':
      return role === 'assistant' ? thinkingBlock(part, at, context) : lost()
    case 'tool-call':
      return role === 'assistant' ? toolUse(part, at, context) : lost()
    case 'tool-result':
      return role === 'user' ? toolResult(part, at, context) : lost()
    case 'image':
    case 'file':
      return role === 'user' ? mediaBlock(part, at, context) : lost()
    case 'audio':
    case 'video':
    case 'unknown':
      return lost()
  }
}

const block = (json: JsonObject | Readonly<Record<string, unknown>>): Block => ({ type: String(json['type']), json: JSON.stringify(json) })

/** The dialect refuses text without a visible character. */
const textBlock = (part: Part & { type: 'text' | 'refusal' }, at: string, context: EncodeContext): Block | null => {
  const cache = part.type === 'text' ? part.cache : undefined
  if (part.text.trim() !== '') return block({ type: 'text', text: part.text, ...cacheMember(cache) })
  if (part.text !== '' || cache !== undefined) context.lose(at, `${context.target.providerName} takes no empty text; it was left out.`)
  return null
}

/** Only thinking that this very model signed goes back, to the byte (docs/contract/requests.md#proofs-of-reasoning); it never becomes visible text. */
const thinkingBlock = (part: Part & { type: 'reasoning' }, at: string, context: EncodeContext): Block | null => {
  const { proof } = part
  const { providerName, modelId } = context.target
  if (proof === undefined || proof.format !== 'anthropic-claude-v1') {
    context.lose(at, `Thinking that ${providerName} did not sign means nothing to it; it was left out.`)
    return null
  }
  if (proof.model !== undefined && proof.model !== modelId) {
    context.lose(at, `The thinking of ${proof.model} cannot be given to ${modelId}; it was left out.`)
    return null
  }
  return proof.kind === 'encrypted'
    ? block({ type: 'redacted_thinking', data: proof.data })
    : block({ type: 'thinking', thinking: part.text, signature: proof.data })
}

const toolUse = (part: Part & { type: 'tool-call' }, at: string, context: EncodeContext): Block => {
  if (part.proof !== undefined)
    context.lose(at, `The proof beside the call of ${part.name} means nothing to ${context.target.providerName}; it was left out.`)
  const head = JSON.stringify({ type: 'tool_use', id: toolUseId(part.id), name: part.name })
  const tail = JSON.stringify(cacheMember(part.cache)).slice(1)
  return { type: 'tool_use', json: `${head.slice(0, -1)},"input":${part.arguments.trim()}${tail === '}' ? '}' : `,${tail}`}` }
}

const toolResult = (part: Part & { type: 'tool-result' }, at: string, context: EncodeContext): Block => {
  const media = (part.media ?? []).flatMap((piece) => {
    const encoded =
      piece.type === 'image' || piece.type === 'file' ? mediaBlock(piece, at, context) : encodePart(piece, 'user', at, context)
    return encoded === null ? [] : [encoded]
  })
  const blocks = [...(part.text.trim() === '' ? [] : [block({ type: 'text', text: part.text })]), ...media]
  const content = media.length === 0 ? JSON.stringify(part.text) : `[${blocks.map(({ json }) => json).join(',')}]`
  const head = JSON.stringify({ type: 'tool_result', tool_use_id: toolUseId(part.callId) })
  const tail = JSON.stringify({ ...(part.isError === true ? { is_error: true } : {}), ...cacheMember(part.cache) }).slice(1)
  return { type: 'tool_result', json: `${head.slice(0, -1)},"content":${content}${tail === '}' ? '}' : `,${tail}`}` }
}

const mediaBlock = (part: Part & { type: 'image' | 'file' }, at: string, context: EncodeContext): Block | null => {
  const { providerName } = context.target
  if (part.type === 'image' && part.detail !== undefined && part.detail !== 'auto')
    context.lose(at, `${providerName} chooses the detail of a picture itself; ${part.detail} was left out.`)
  const encoded = part.type === 'image' ? imageBlock(part.url, part.cache) : documentBlock(part.url, part.filename, part.cache)
  if (encoded !== null) return block(encoded)
  uncarried(part, { at, role: 'user' }, context, `takes no ${part.type === 'image' ? 'pictures' : 'files'} of this format`)
  return null
}

/** The dialect's ids are letters, digits, `_` and `-`; those of other makers (`functions.f:0`) are rewritten, call and result alike. */
export const toolUseId = (id: string): string =>
  id.replaceAll(/[^a-zA-Z0-9_-]/g, (character) => `_${(character.codePointAt(0) ?? 0).toString(16)}`) || '_'
