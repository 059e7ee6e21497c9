/**
 * Reads the thinking of a chat message. `reasoning_details` holds it in pieces with its proofs: a stream sends the text of a block
 * in many pieces and its proof last, and clients send the pieces back unchanged. `reasoning` repeats their readable part. Clients of
 * LiteLLM send `thinking_blocks` instead.
 */
import type { Part } from '../../canonical/prompt.ts'
import { type PlaceOfThought, readPlacedId } from '../../canonical/place-of-thought.ts'
import { openProof, REASONING_FORMATS, type ReasoningFormat, type ReasoningProof } from '../../canonical/reasoning.ts'
import { children, member, type Node, optionalNumber, optionalText, requiredText, whole } from '../json-node.ts'
import { type UnknownPart, unknownPart } from '../prompt-reader.ts'
import { readServerToolDetail, SERVER_TOOL_DETAIL } from './read-server-tool-detail.ts'

/** A block of thinking, or a call that the service ran together with its result. */
export interface Thought {
  readonly parts: readonly Part[]
  /** Its place in the answer; null if nothing preceded it, or if the client does not say. */
  readonly place: PlaceOfThought | null
}

/** `callIds`: the ids of the client's calls in the message. A proof of a call is a piece of its own. */
export const readReasoning = (message: Node, callIds: ReadonlySet<string>): Thought[] => {
  const details = children(message, 'reasoning_details')
  // All of them hold the same thinking.
  for (const key of ['thinking_blocks', 'reasoning', 'reasoning_content']) member(message, key)
  if (details.length > 0) {
    const pieces = details.map(readPiece)
    const ran = pieces.flatMap((piece) =>
      'parts' in piece ? piece.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])) : [],
    )
    return joinPieces(pieces, ran.length === 0 ? callIds : new Set([...callIds, ...ran]))
  }
  // LiteLLM's own form, with the blocks of Messages.
  const blocks = children(message, 'thinking_blocks')
  if (blocks.length > 0) return blocks.flatMap(readBlock)
  // Some vendors call it `reasoning_content`.
  const text = optionalText(message, 'reasoning') ?? optionalText(message, 'reasoning_content')
  return text === null || text === '' ? [] : [{ parts: [{ type: 'reasoning', text }], place: null }]
}

const readBlock = (block: Node): readonly Thought[] => {
  const isRedacted = requiredText(block, 'type') === 'redacted_thinking'
  const text = isRedacted ? '' : (optionalText(block, 'thinking') ?? '')
  const data = optionalText(block, isRedacted ? 'data' : 'signature') ?? ''
  if (text === '' && data === '') return []
  const kind = isRedacted ? 'encrypted' : 'signature'
  const proof = data === '' ? null : ({ format: 'anthropic-claude-v1', kind, data } as const)
  return [{ parts: [{ type: 'reasoning', text, ...(proof === null ? {} : { proof }) }], place: null }]
}

interface Piece {
  readonly place: PlaceOfThought | null
  readonly text: string
  readonly summary: boolean
  readonly proof: ReasoningProof | null
  readonly format: string | null
  readonly id: string | null
  readonly index: number | null
}

const readPiece = (detail: Node): Piece | Thought | UnknownPart => {
  // A piece is carried or reported as a whole.
  whole(detail)
  const type = requiredText(detail, 'type')
  const { id, place } = readPlacedId(optionalText(detail, 'id'))
  const ran = type === SERVER_TOOL_DETAIL ? readServerToolDetail(detail) : null
  if (ran !== null) return { parts: ran, place }
  const format = optionalText(detail, 'format')
  const rest = { format, id, index: optionalNumber(detail, 'index'), place }
  if (type === 'reasoning.summary') return { text: requiredText(detail, 'summary'), summary: true, proof: null, ...rest }
  if (type === 'reasoning.text') {
    const signature = optionalText(detail, 'signature')
    // A signature without a format is Anthropic's, the first vendor that had them.
    const proof = signature === null || signature === '' ? null : readProof('signature', signature, format ?? 'anthropic-claude-v1', id)
    return { text: optionalText(detail, 'text') ?? '', summary: false, proof, ...rest }
  }
  const proof = type === 'reasoning.encrypted' ? readProof('encrypted', requiredText(detail, 'data'), format, id) : null
  return proof === null ? unknownPart(type, detail) : { text: '', summary: false, proof, ...rest }
}

const readProof = (kind: ReasoningProof['kind'], data: string, format: string | null, id: string | null): ReasoningProof | null => {
  const opened = openProof(data)
  if (opened !== null) return opened
  const known = REASONING_FORMATS.find((name) => name === format)
  if (known === undefined) return null
  // Google has only signatures, whatever the type of the detail; Anthropic's proofs have no id.
  return { format: known, kind: known === 'google-gemini-v1' ? 'signature' : kind, data, ...proofId(known, id) }
}

const proofId = (format: ReasoningFormat, id: string | null): { readonly id?: string } =>
  id === null || format === 'anthropic-claude-v1' ? {} : { id }

/** Joins pieces into blocks; the pieces of one block are consecutive. */
const joinPieces = (pieces: readonly (Piece | Thought | UnknownPart)[], callIds: ReadonlySet<string>): Thought[] => {
  const blocks: (Piece | Thought | UnknownPart)[] = []
  for (const piece of pieces) {
    const open = blocks.at(-1)
    if (open === undefined || !isPiece(open) || !isPiece(piece) || !continues(open, piece, callIds)) blocks.push(piece)
    else blocks[blocks.length - 1] = join(open, piece)
  }
  return blocks.flatMap((block) => {
    if ('type' in block) return [{ parts: [block], place: null }]
    return 'parts' in block ? [block] : thoughtOf(block)
  })
}

const isPiece = (block: Piece | Thought | UnknownPart): block is Piece => !('type' in block) && !('parts' in block)

const join = (open: Piece, next: Piece): Piece => ({
  text: open.text + next.text,
  summary: open.summary || next.summary,
  proof: open.proof ?? next.proof,
  format: open.format ?? next.format,
  id: open.id ?? next.id,
  index: open.index ?? next.index,
  place: open.place ?? next.place,
})

const continues = (open: Piece, next: Piece, callIds: ReadonlySet<string>): boolean => {
  if (standsAlone(open, callIds) || standsAlone(next, callIds)) return false
  // A proof ends its block, unless the block has no text yet: a proof may precede its text.
  if (open.proof !== null && (next.proof !== null || open.text !== '')) return false
  if (open.format !== null && next.format !== null && open.format !== next.format) return false
  if (open.id !== null && next.id !== null) return open.id === next.id
  if (open.index !== null && next.index !== null) return open.index === next.index
  // Joins OpenAI's summary and the encrypted thinking that it summarises, if neither has an index.
  return open.proof === null && next.proof !== null && next.text === ''
}

/** A redacted block has no text, and the proof of a call belongs to no block. */
const standsAlone = ({ proof, id }: Piece, callIds: ReadonlySet<string>): boolean =>
  (proof?.format === 'anthropic-claude-v1' && proof.kind === 'encrypted') ||
  [id, proof?.id].some((id) => id !== null && id !== undefined && callIds.has(id))

const thoughtOf = ({ text, summary, proof, place }: Piece): Thought[] =>
  text === '' && proof === null
    ? []
    : [{ parts: [{ type: 'reasoning', text, ...(summary ? { summary: true } : {}), ...(proof === null ? {} : { proof }) }], place }]
