/** Encodes the parts of a message as Messages blocks. */
import type { Message } from '../../canonical/prompt.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import { editMembers } from '../../lib/json/json-splice.ts'
import type { Steps } from '../../lib/steps.ts'
import { type Block, type BlockWords, encodeParts as encodeInWords } from '../message-blocks.ts'
import { plainCallId } from '../tools/plain-call-id.ts'
import { cacheMember, type EncodeContext } from './encode-context.ts'
import { documentBlock, imageBlock } from './encode-media.ts'
import { isImitation } from './model-rules.ts'

/** Matches the types of blocks of Claude's own tools. */
export const OF_PROVIDER = /^(?:server_tool_use|mcp_tool_use|compaction)$|._tool_result$/

/** The properties of blocks on which the order of turns depends. */
export const BLOCK_FORM = {
  resultType: 'tool_result',
  thinking: new Set(['thinking', 'redacted_thinking']),
  /** The provider's own tools were at work, or it interrupted the turn to continue it later. */
  isPaused: ({ blocks }: { readonly blocks: readonly Block[] }): boolean => blocks.some(({ type }) => OF_PROVIDER.test(type)),
  /** Claude's summary of a conversation is refused anywhere but at its beginning. */
  opens: ({ blocks }: { readonly blocks: readonly Block[] }): boolean => blocks[0]?.type === 'compaction',
  textOf: ({ type, json, text }: Block): string | null =>
    type === 'text' ? (text ?? (JSON.parse(json) as { readonly text: string }).text) : null,
  *withText(text: string, given?: Block): Steps<Block> {
    if (given === undefined) return yield* block({ type: 'text', text })
    return { type: 'text', json: editMembers(given.json, { text: yield* writeInSteps(text) }), text }
  },
}

export function* encodeParts(message: Message, context: EncodeContext): Steps<readonly Block[]> {
  const { own, parts } = message
  const { provider, modelId } = context.target
  if (own?.provider !== provider || own.modelId !== modelId)
    return yield* encodeInWords(message, context, isImitation(context.target) ? IMITATORS_WORDS : WORDS)
  // Calls are written as in every other turn, so that the ids of their results match.
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [WORDS.toolUse(part, message.at ?? 'messages')] : [])).reverse()
  return own.blocks.flatMap((block) => (block.type === 'tool_use' ? calls.splice(-1) : [block]))
}

const WORDS: BlockWords<Block> = {
  *text(part) {
    const { text } = part
    return { ...(yield* block({ type: 'text', text, ...cacheMember(part.type === 'text' ? part.cache : undefined) })), text }
  },
  signs: true,
  thinking: (thinking, { kind, data }) =>
    block(kind === 'encrypted' ? { type: 'redacted_thinking', data } : { type: 'thinking', thinking, signature: data }),
  toolUse({ id, name, arguments: json, cache }) {
    const head = JSON.stringify({ type: 'tool_use', id: plainCallId(id), name })
    return { type: 'tool_use', json: `${head.slice(0, -1)},"input":${json.trim()}${withMembers(cacheMember(cache))}` }
  },
  *toolResult({ callId, text, isError, cache }, pieces) {
    const head = JSON.stringify({ type: 'tool_result', tool_use_id: plainCallId(callId) })
    const isOneText = pieces.length === 0 || (pieces.length === 1 && pieces[0]?.type === 'text')
    const content = isOneText ? yield* writeInSteps(text) : `[${pieces.map(({ json }) => json).join(',')}]`
    const tail = withMembers({ ...(isError === true ? { is_error: true } : {}), ...cacheMember(cache) })
    return { type: 'tool_result', json: `${head.slice(0, -1)},"content":${content}${tail}` }
  },
  media: new Set(['image', 'file'] as const),
  *mediaBlock(part) {
    const made =
      part.type === 'image'
        ? imageBlock(part.url, part.cache)
        : part.type === 'file'
          ? documentBlock(part.url, part.filename, part.cache)
          : null
    return made === null ? `takes no ${part.type === 'image' ? 'pictures' : 'files'} of this format` : yield* block(made)
  },
}

/** For models other than Claude: they take unsigned thinking back in the form in which the dialect's SDKs write it. */
const IMITATORS_WORDS: BlockWords<Block> = { ...WORDS, unsigned: (thinking) => block({ type: 'thinking', thinking, signature: '' }) }

function* block(value: Readonly<Record<string, unknown>>): Steps<Block> {
  return { type: String(value['type']), json: yield* writeInSteps(value) }
}

/** The end of a JSON object with these members added. */
const withMembers = (members: object): string => {
  const text = JSON.stringify(members).slice(1)
  return text === '}' ? text : `,${text}`
}
