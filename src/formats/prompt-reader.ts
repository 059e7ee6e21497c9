/**
 * How the three dialects read a conversation: objects that know their path, tables of readers by `type`, and the few
 * shapes that all of them share. A type without a reader is passed over: a newer client must not be turned away.
 */
import type { FunctionTool, Message, Part } from '../canonical/prompt.ts'
import { GatewayError } from '../errors.ts'
import { isObject } from '../lib/json.ts'

/** A malformed message is `invalid_prompt`; a fault in what goes with the conversation is `invalid_request`. */
type Fault = 'invalid_prompt' | 'invalid_request'

/** A JSON object of the request and where it stands, so that every fault names its path. */
export interface Node {
  readonly path: string
  readonly members: Readonly<Record<string, unknown>>
  readonly fault: Fault
}

/** Readers by the `type` of what they read. */
export type Readers<Out> = Readonly<Record<string, (node: Node) => Out>>

export type PartReaders = Readers<readonly Part[]>

export const nodeAt = (value: unknown, path: string, fault: Fault): Node => {
  if (!isObject(value)) throw malformed(fault, path, 'must be an object')
  return { path, members: value, fault }
}

/** The objects of a list; none where the value is absent. */
export const nodesAt = (value: unknown, path: string, fault: Fault): Node[] => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw malformed(fault, path, 'must be a list')
  return value.map((item: unknown, index) => nodeAt(item, `${path}[${index}]`, fault))
}

export const child = (node: Node, key: string): Node => nodeAt(node.members[key], `${node.path}.${key}`, node.fault)

export const children = (node: Node, key: string): Node[] => nodesAt(node.members[key], `${node.path}.${key}`, node.fault)

export const requiredText = (node: Node, key: string): string => {
  const value = node.members[key]
  if (typeof value !== 'string') throw malformedMember(node, key, 'must be a string')
  return value
}

export const optionalText = (node: Node, key: string): string | null => {
  const value = node.members[key]
  return value === undefined || value === null ? null : requiredText(node, key)
}

/** An address that a provider can be handed; anything else, such as a bare file path, is a mistake of the sender. */
export const requiredUrl = (node: Node, key: string): string => {
  const url = requiredText(node, key)
  if (!/^(?:https?|data):/i.test(url)) throw malformedMember(node, key, 'must be an https: or data: URL')
  return url
}

/** The reader for the node's `type`, or undefined where the type is unknown to this release. */
export const readerFor = <Out>(readers: Readers<Out>, type: string): ((node: Node) => Out) | undefined =>
  Object.hasOwn(readers, type) ? readers[type] : undefined

/** Text, or a list of typed parts. */
export const readContent = (node: Node, key: string, readers: PartReaders): readonly Part[] => {
  const value = node.members[key]
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  if (!Array.isArray(value)) throw malformedMember(node, key, 'must be a string or a list of parts')
  return children(node, key).flatMap((part) => readerFor(readers, requiredText(part, 'type'))?.(part) ?? [])
}

export const textPart = (text: string): readonly Part[] => [{ type: 'text', text }]

/** A result holds text; images and files that a tool returned follow it in the same message, so none is lost. */
export const toolResult = (callId: string, content: readonly Part[]): readonly Part[] => [
  { type: 'tool-result', callId, text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') },
  ...content.filter((part) => part.type !== 'text'),
]

/** A tool without a schema takes no arguments. */
export const functionTool = (node: Node, schemaKey: string): FunctionTool => ({
  type: 'function',
  name: requiredText(node, 'name'),
  description: optionalText(node, 'description'),
  parameters: node.members[schemaKey] ?? { type: 'object', properties: {} },
})

/** A piece of a conversation. An `open` one continues an open one of the same role before it. */
export type Piece = Message & { readonly open: boolean }

/** Dialects that send a turn in pieces (each tool result a message, each tool call an item) come out as whole turns. */
export const joinTurns = (pieces: readonly Piece[]): Message[] => {
  const turns: { role: Message['role']; parts: Part[]; open: boolean }[] = []
  for (const { role, parts, open } of pieces) {
    const last = turns.at(-1)
    if (open && last?.open === true && last.role === role) last.parts.push(...parts)
    else turns.push({ role, parts: [...parts], open })
  }
  return turns.map(({ role, parts }) => ({ role, parts }))
}

export const malformedMember = (node: Node, key: string, message: string): GatewayError =>
  malformed(node.fault, `${node.path}.${key}`, message)

export const malformed = (fault: Fault, path: string, message: string): GatewayError =>
  new GatewayError(fault, `${path} ${message}.`, { metadata: { issues: [{ path, message: `${message}.` }] } })
