/** Reads conversations of the three dialects: tables of readers by `type`, and the few shapes that all dialects share. */
import type { CacheMark, Message, Part, UrlCitation } from '../canonical/prompt.ts'
import type { ReasoningProof } from '../canonical/reasoning.ts'
import { joinedResult } from '../canonical/result-pieces.ts'
import { isObject } from '../lib/json/json.ts'
import {
  children,
  malformedMember,
  member,
  type Node,
  optionalChild,
  optionalNumber,
  optionalText,
  requiredText,
  whole,
} from './json-node.ts'

/** Readers, keyed by the `type` of the object that they read. */
export type Readers<Out> = Readonly<Record<string, (node: Node) => Out>>

export type PartReaders = Readers<readonly Part[]>

/** Returns the reader for the `type`, or undefined if this release does not know the type. */
export const readerFor = <Out>(readers: Readers<Out>, type: string): ((node: Node) => Out) | undefined =>
  Object.hasOwn(readers, type) ? readers[type] : undefined

/** Reads a string or a list of typed parts. A cache mark next to a string applies to the string. */
export const readContent = (node: Node, key: string, readers: PartReaders): readonly Part[] => {
  const value = member(node, key)
  if (typeof value === 'string') return [{ type: 'text', text: value, ...cacheMark(node) }]
  if (!Array.isArray(value)) throw malformedMember(node, key, 'must be a string or a list of parts')
  return children(node, key).flatMap((part) => readPart(part, readers))
}

/** Reads a part. Newer clients must not be rejected, so a part of an unknown type is carried by its type alone. */
export const readPart = (part: Node, readers: PartReaders): readonly Part[] => {
  const type = requiredText(part, 'type')
  return readerFor(readers, type)?.(part) ?? [BESIDE_CONTENT.has(type) ? unknownPart(type, part) : unknownContent(type, part)]
}

export type UnknownPart = Extract<Part, { type: 'unknown' }>

/** The part is reported as a whole, so its members are not. */
export const unknownPart = (kind: string, node: Node): UnknownPart => {
  whole(node)
  return unknownAt(kind, node.path)
}

export const unknownAt = (kind: string, at: string): UnknownPart => ({ type: 'unknown', kind, at })

/** A part of the question to the model in a form that only the client's own dialect defines. */
export const unknownContent = (kind: string, node: Node): UnknownPart => {
  const fileId = node.members['file_id']
  return { ...unknownPart(kind, node), content: true, ...(typeof fileId === 'string' ? { fileId } : {}) }
}

/** A call that the model makes itself has nothing to say about its caller. One by the model's program or code is reported as unread. */
export const passOverDirectCaller = (node: Node): void => {
  const { caller } = node.members
  if (isObject(caller) && caller['type'] === 'direct') member(node, 'caller')
}

/** Parts about tools or the cache, which the model does not read. */
const BESIDE_CONTENT: ReadonlySet<string> = new Set(['tool_reference', 'cache_edits'])

/** Reads Anthropic's or OpenAI's cache mark. The request's `prompt_cache_options` says how long the latter lasts if it does not say so. */
export const cacheMark = (node: Node): { readonly cache?: CacheMark } => {
  const control = optionalChild(node, 'cache_control')
  if (control === null) {
    const breakpoint = optionalChild(node, 'prompt_cache_breakpoint')
    if (breakpoint === null) return {}
    // There is one mode.
    optionalText(breakpoint, 'mode')
    const breakpointTtl = optionalText(breakpoint, 'ttl')
    return { cache: breakpointTtl === null ? {} : { breakpointTtl } }
  }
  // Reads the type so that it is not reported as lost; there is only one.
  optionalText(control, 'type')
  // It says who shares the entry, which each provider decides by itself.
  member(control, 'scope')
  const ttl = optionalText(control, 'ttl')
  if (ttl === null) return { cache: {} }
  if (ttl !== '5m' && ttl !== '1h') throw malformedMember(control, 'ttl', 'must be 5m or 1h')
  return { cache: { ttl } }
}

interface ResultMarks {
  readonly cache?: CacheMark
  readonly isError?: boolean
}

/**
 * Builds a tool result. A part that is neither text nor media follows the result in the same message. A cache mark within the
 * content marks the result.
 */
export const toolResult = (callId: string, content: readonly Part[], marks: ResultMarks = {}): readonly Part[] => {
  const only = content.length === 1 ? content[0] : undefined
  // Nearly all results consist of one text.
  if (only?.type === 'text' && !('cache' in only) && marks.cache === undefined && marks.isError !== true) {
    return [{ type: 'tool-result', callId, text: only.text }]
  }
  const cache = marks.cache ?? content.flatMap((part) => ('cache' in part ? [part.cache] : [])).at(-1)
  return [
    {
      type: 'tool-result',
      callId,
      ...joinedResult(content.filter(({ type }) => PIECES.has(type))),
      ...(marks.isError === true ? { isError: true } : {}),
      ...(cache === undefined ? {} : { cache }),
    },
    ...content.filter(({ type }) => !PIECES.has(type)),
  ]
}

const PIECES: ReadonlySet<Part['type']> = new Set(['text', 'image', 'audio', 'video', 'file'] as const)

/** Reads the pages that a text cites as its sources; other kinds of annotation have no canonical form. */
export const readAnnotations = (node: Node, inside: (annotation: Node) => Node): { urls: UrlCitation[]; others: Part[] } => {
  const urls: UrlCitation[] = []
  const others: Part[] = []
  for (const annotation of children(node, 'annotations')) {
    const type = requiredText(annotation, 'type')
    if (type === 'url_citation') urls.push(urlCitation(inside(annotation)))
    else others.push(unknownPart(type, annotation))
  }
  return { urls, others }
}

const urlCitation = (node: Node): UrlCitation => ({
  url: requiredText(node, 'url'),
  title: optionalText(node, 'title'),
  content: optionalText(node, 'content'),
  start: optionalNumber(node, 'start_index'),
  end: optionalNumber(node, 'end_index'),
})

/** Attaches a proof to the tool call of the same message whose id it has (canonical/reasoning.ts). */
export const attachProofs = (parts: readonly Part[]): readonly Part[] => {
  if (!parts.some((part) => part.type === 'reasoning' && part.proof?.id !== undefined)) return parts
  const calls = new Set(parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])))
  // In the order of the calls: a provider may name calls of several turns alike.
  const proofs = new Map<string, ReasoningProof[]>()
  const signed = new Set(
    parts.flatMap((part) => (part.type === 'tool-call' && part.proof !== undefined ? [`${part.id} ${part.proof.data}`] : [])),
  )
  for (const part of parts) {
    const id = part.type === 'reasoning' ? part.proof?.id : undefined
    if (part.type !== 'reasoning' || part.proof === undefined || id === undefined || !calls.has(id)) continue
    const { id: _, ...proof } = part.proof
    const others = proofs.get(id) ?? []
    proofs.set(id, others)
    // A client may send a signature back twice: with its call, and among its thinking.
    if (!signed.has(`${id} ${proof.data}`)) others.push(proof)
  }
  if (proofs.size === 0) return parts
  return parts.flatMap((part): readonly Part[] => {
    if (part.type === 'tool-call') {
      const proof = part.proof ?? proofs.get(part.id)?.shift()
      return [proof === undefined ? part : { ...part, proof }]
    }
    if (part.type !== 'reasoning' || part.proof?.id === undefined || !proofs.has(part.proof.id)) return [part]
    const { proof: _, ...readable } = part
    return readable.text === '' ? [] : [readable]
  })
}

/** A piece of a conversation. An `open` piece continues the open piece of the same role before it. */
export type Piece = Message & { readonly open: boolean }

/** Joins the pieces of each turn, for dialects that send a turn in pieces (each tool result a message, each tool call an item). */
export const joinTurns = (pieces: readonly Piece[]): Message[] => {
  const turns: (Omit<Message, 'parts'> & { parts: Part[] })[] = []
  let isOpen = false
  // Objects are written out because spreading them takes most of the time for a long conversation.
  for (const { role, parts, at, name, open } of pieces) {
    const last = turns.at(-1)
    if (open && isOpen && last?.role === role) for (const part of parts) last.parts.push(part)
    else if (at === undefined) turns.push(name === undefined ? { role, parts: [...parts] } : { role, parts: [...parts], name })
    else turns.push(name === undefined ? { role, parts: [...parts], at } : { role, parts: [...parts], at, name })
    isOpen = open
  }
  return turns.map((turn) => {
    const parts = attachProofs(turn.parts)
    return parts === turn.parts ? turn : { ...turn, parts }
  })
}
