/** Encodes the parts of a message as Converse blocks. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { type Block as AnyBlock, type BlockWords, encodeParts as encodeInWords, type MediaPart } from '../message-blocks.ts'
import { callId } from './call-id.ts'
import { cachePoint, type EncodeContext } from './encode-context.ts'
import { withNamedMembers } from './tool-input.ts'
import { AUDIO_FORMATS, documentMedia, imageMedia, videoMedia, type Media } from './encode-media.ts'

/** A block, together with the cache point that follows it. */
export interface Block extends AnyBlock {
  /** A cache point follows the block. */
  readonly marked?: true
}

export const encodeParts = (message: Message, context: EncodeContext): Steps<Block[]> => encodeInWords(message, context, wordsOf(context))

const wordsOf = (context: EncodeContext): BlockWords<Block> => {
  const { facts, rules, target, lose } = context
  return {
    *text({ text }) {
      return { ...(yield* block({ text })), text }
    },
    signs: rules.claude,
    thinking: (text, { kind, data }) =>
      block({ reasoningContent: kind === 'encrypted' ? { redactedContent: data } : { reasoningText: { text, signature: data } } }),
    toolUse({ id, name, arguments: json }, at) {
      const head = JSON.stringify({ toolUseId: callId(id, facts.callIds), name })
      const input = withNamedMembers(json)
      if (input !== json) lose(at, `${target.providerName} takes no member without a name in the input of a call; it was left out.`)
      return { type: 'toolUse', json: `{"toolUse":${head.slice(0, -1)},"input":${input.trim()}}}` }
    },
    *toolResult({ callId: given, isError }, pieces, at) {
      // Claude takes a result without content, other models do not (measured in strands-agents/harness-sdk's pull request 2123).
      const content = pieces.length > 0 ? pieces.map(({ json }) => json).join(',') : yield* writeInSteps({ text: NOTHING })
      const failed = isError === true && facts.resultStatus
      if (isError === true && !failed)
        lose(at, `${target.upstreamModel} learns that a tool failed only from its result; the mark was left out.`)
      const id = JSON.stringify(callId(given, facts.callIds))
      return { type: 'toolResult', json: `{"toolResult":{"toolUseId":${id},"content":[${content}]${failed ? ',"status":"error"' : ''}}}` }
    },
    media: facts.hears ? MEDIA : SEEN_MEDIA,
    *mediaBlock(part) {
      const media = mediaOf(part, context)
      return 'block' in media ? yield* block(media.block) : media.why
    },
    marked(made, part, at) {
      const point = 'cache' in part ? cachePoint(part.cache, at, part.type === 'tool-result' ? 'result' : 'blocks', context) : null
      return point === null ? made : { ...made, json: `${made.json},${JSON.stringify(point)}`, marked: true }
    },
  }
}

const NOTHING = 'The tool returned nothing.'

const SEEN_MEDIA: ReadonlySet<Part['type']> = new Set(['image', 'file'] as const)
const MEDIA: ReadonlySet<Part['type']> = new Set([...SEEN_MEDIA, 'audio', 'video'] as const)

function* block(value: JsonObject): Steps<Block> {
  return { type: Object.keys(value)[0] ?? '', json: yield* writeInSteps(value) }
}

const mediaOf = (part: MediaPart, { documentNames }: EncodeContext): Media => {
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
