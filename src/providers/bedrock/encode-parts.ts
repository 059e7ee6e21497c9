/** The parts of one message as content blocks. */
import type { Message, Part } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json.ts'
import { uncarried } from '../uncarried.ts'
import { callId } from './call-id.ts'
import { cachePoint, type EncodeContext } from './encode-context.ts'
import { AUDIO_FORMATS, documentMedia, imageMedia, videoMedia, type Media } from './encode-media.ts'

/** Its JSON text, so that arguments which a model wrote go back as it wrote them; a cache point behind it belongs to it. */
export interface Block {
  readonly type: string
  readonly json: string
  /** A cache point is behind it. */
  readonly marked?: true
}

/** A setting that the dialect has no word for is told and left out. */
export const encodeParts = (message: Message, context: EncodeContext): Block[] => {
  const at = message.at ?? 'messages'
  if (message.name !== undefined) context.lose(`${at}.name`, `${context.target.providerName} has no names of speakers; it was left out.`)
  return message.parts.flatMap((part) => {
    const block = encodePart(part, message.role, at, context)
    if (block === null) return []
    const point = 'cache' in part ? cachePoint(part.cache, at, 'blocks', context) : null
    return [point === null ? block : { type: block.type, json: `${block.json},${JSON.stringify(point)}`, marked: true }]
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
    case 'audio':
    case 'video':
      return role === 'user' ? mediaBlock(part, at, context) : lost()
    case 'unknown':
      return lost()
  }
}

const block = (json: JsonObject): Block => ({ type: Object.keys(json)[0] ?? '', json: JSON.stringify(json) })

/** The dialect refuses text without a visible character. */
const textBlock = (part: Part & { type: 'text' | 'refusal' }, at: string, context: EncodeContext): Block | null => {
  if (part.text.trim() !== '') return block({ text: part.text })
  if (part.text !== '' || (part.type === 'text' && part.cache !== undefined))
    context.lose(at, `${context.target.providerName} takes no empty text; it was left out.`)
  return null
}

/** Only thinking that this very model signed goes back, to the byte (docs/contract/requests.md#proofs-of-reasoning); it never becomes visible text. */
const thinkingBlock = ({ proof, text }: Part & { type: 'reasoning' }, at: string, context: EncodeContext): Block | null => {
  const { providerName, upstreamModel, modelId } = context.target
  if (proof === undefined || proof.format !== 'anthropic-claude-v1' || !context.rules.claude) {
    context.lose(at, `Thinking that ${upstreamModel} did not sign means nothing to ${providerName}; it was left out.`)
    return null
  }
  if (proof.model !== undefined && proof.model !== modelId) {
    context.lose(at, `The thinking of ${proof.model} cannot be given to ${modelId}; it was left out.`)
    return null
  }
  return proof.kind === 'encrypted'
    ? block({ reasoningContent: { redactedContent: proof.data } })
    : block({ reasoningContent: { reasoningText: { text, signature: proof.data } } })
}

const toolUse = (part: Part & { type: 'tool-call' }, at: string, context: EncodeContext): Block => {
  if (part.proof !== undefined)
    context.lose(at, `The proof beside the call of ${part.name} means nothing to ${context.target.providerName}; it was left out.`)
  const head = JSON.stringify({ toolUseId: callId(part.id, context.facts.callIds), name: part.name })
  return { type: 'toolUse', json: `{"toolUse":${head.slice(0, -1)},"input":${part.arguments.trim()}}}` }
}

const toolResult = (part: Part & { type: 'tool-result' }, at: string, context: EncodeContext): Block => {
  const media = (part.media ?? []).flatMap((piece) => {
    const encoded = encodePart(piece, 'user', at, context)
    return encoded === null ? [] : [encoded]
  })
  const said = part.text.trim() === '' ? [] : [block({ text: part.text })]
  const content = [...said, ...media].map(({ json }) => json).join(',')
  const failed = part.isError === true && context.facts.resultStatus
  if (part.isError === true && !failed)
    context.lose(at, `${context.target.upstreamModel} cannot be told that a tool failed but by its result; the mark was left out.`)
  const id = JSON.stringify(callId(part.callId, context.facts.callIds))
  return { type: 'toolResult', json: `{"toolResult":{"toolUseId":${id},"content":[${content}]${failed ? ',"status":"error"' : ''}}}` }
}

const mediaBlock = (part: Part & { type: 'image' | 'file' | 'audio' | 'video' }, at: string, context: EncodeContext): Block | null => {
  const { providerName } = context.target
  if (part.type === 'image' && part.detail !== undefined && part.detail !== 'auto')
    context.lose(at, `${providerName} chooses the detail of a picture itself; ${part.detail} was left out.`)
  const media: Media | null = context.facts.hears || (part.type !== 'audio' && part.type !== 'video') ? mediaOf(part, context) : null
  if (media !== null && 'block' in media) return block(media.block)
  uncarried(part, { at, role: 'user' }, context, media?.why)
  return null
}

const mediaOf = (part: Part & { type: 'image' | 'file' | 'audio' | 'video' }, { documentNames }: EncodeContext): Media => {
  switch (part.type) {
    case 'image':
      return imageMedia(part.url)
    case 'video':
      return videoMedia(part.url)
    case 'file':
      return documentMedia(part.url, part.filename, documentNames)
    case 'audio':
      return AUDIO_FORMATS.has(part.format)
        ? { block: { audio: { format: part.format, source: { bytes: part.data } } } }
        : { why: 'takes no sound of this format' }
  }
}
