/**
 * Objects of a request that know their path, so that every fault names it. A watched node records which of its members were read:
 * any other member has no canonical form, and a translation reports it.
 */
import { GatewayError } from '../errors.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject } from '../lib/json/json.ts'
import { isWebOrDataUrl } from '../lib/network/data-url.ts'

/** A malformed message is `invalid_prompt`; a fault outside the messages is `invalid_request`. */
type Fault = 'invalid_prompt' | 'invalid_request'

export interface Node {
  readonly path: string
  readonly members: Readonly<Record<string, unknown>>
  readonly fault: Fault
  readonly watch: Watch | null
}

/** A list, since readers ask for few members, and a conversation has many nodes. */
interface Watch {
  asked: string[]
  /** All members were asked for. */
  whole: boolean
  /** The watched nodes created from members, with the member's name; null if there are none. */
  inside: { readonly key: string; readonly node: Node }[] | null
}

const newWatch = (): Watch => ({ asked: [], whole: false, inside: null })

/** The whole body as a watched node. */
export const bodyNode = (body: JsonBody): Node => ({
  path: '',
  members: Object.fromEntries(body.keys.map((key) => [key, body.get(key)])),
  fault: 'invalid_request',
  watch: newWatch(),
})

export const nodeAt = (value: unknown, path: string, fault: Fault, watch: Watch | null = null): Node => {
  if (!isObject(value)) throw malformed(fault, path, 'must be an object')
  return { path, members: value, fault, watch }
}

/** The same node, which from here on records which of its members are read. */
export const watchedNode = ({ members, path, fault }: Node): Node => ({ members, path, fault, watch: newWatch() })

/** The objects of a list, not watched; empty if the value is absent. */
export const nodesAt = (value: unknown, path: string): Node[] =>
  itemsOf(value, path, 'invalid_prompt').map((item, index) => nodeAt(item, `${path}[${index}]`, 'invalid_prompt'))

/** Returns a member; undefined if it is absent or null, which clients send for a setting that they leave open. */
export const member = (node: Node, key: string): unknown => {
  node.watch?.asked.push(key)
  return node.members[key] ?? undefined
}

export const child = (node: Node, key: string): Node => inside(node, key, member(node, key), memberPath(node, key))

export const optionalChild = (node: Node, key: string): Node | null => (member(node, key) === undefined ? null : child(node, key))

export const children = (node: Node, key: string): Node[] => {
  const path = memberPath(node, key)
  return itemsOf(member(node, key), path, node.fault).map((item, index) => inside(node, key, item, `${path}[${index}]`))
}

export const optionalText = (node: Node, key: string): string | null => {
  const value = member(node, key)
  if (value !== undefined && typeof value !== 'string') throw malformedMember(node, key, 'must be a string')
  return value ?? null
}

export const requiredText = (node: Node, key: string): string => {
  const text = optionalText(node, key)
  if (text === null) throw malformedMember(node, key, 'must be a string')
  return text
}

export const requiredWord = <const Word extends string>(node: Node, key: string, words: readonly Word[]): Word => {
  const text = requiredText(node, key)
  const found = words.find((word) => word === text)
  if (found === undefined) throw malformedMember(node, key, `must be one of ${words.join(', ')}`)
  return found
}

export const optionalNumber = (node: Node, key: string): number | null => {
  const value = member(node, key)
  if (value !== undefined && typeof value !== 'number') throw malformedMember(node, key, 'must be a number')
  return value ?? null
}

export const optionalFlag = (node: Node, key: string): boolean | null => {
  const value = member(node, key)
  if (value !== undefined && typeof value !== 'boolean') throw malformedMember(node, key, 'must be true or false')
  return value ?? null
}

/** A list of strings. */
export const optionalTexts = (node: Node, key: string): string[] | null => {
  const value = member(node, key)
  if (value === undefined) return null
  const path = memberPath(node, key)
  return itemsOf(value, path, node.fault).map((item, index) => {
    if (typeof item !== 'string') throw malformed(node.fault, `${path}[${index}]`, 'must be a string')
    return item
  })
}

/** A URL that a provider can be given; anything else, such as a bare file path, is a mistake of the client. */
export const requiredUrl = (node: Node, key: string): string => {
  const url = requiredText(node, key)
  if (!isWebOrDataUrl(url)) throw malformedMember(node, key, 'must be an https: or data: URL')
  return url
}

/** Returns all members of the object and marks each as read. */
export const whole = (node: Node): Readonly<Record<string, unknown>> => {
  if (node.watch !== null) node.watch.whole = true
  return node.members
}

/** Marks a member as not read, because its value turned out to have no canonical form. */
export const disown = (node: Node, key: string): void => {
  if (node.watch !== null) node.watch.asked = node.watch.asked.filter((asked) => asked !== key)
}

/** The members of a node that are not reported if nothing read them. */
export interface PassedOver {
  readonly names: ReadonlySet<string>
  /** The same for its inner nodes; absent: `names` is for them too. */
  readonly inside?: ReadonlySet<string>
  /** Also members with an empty value. */
  readonly empty?: boolean
}

/** The paths of the members that were not read, including those of inner nodes; at most `most`. */
export const unasked = (node: Node, { names, inside = names, empty = false }: PassedOver, most: number): string[] => {
  const found: string[] = []
  addUnasked(node, names, { inside, empty, most, found })
  return found
}

interface Unasked extends Required<Omit<PassedOver, 'names'>> {
  readonly most: number
  readonly found: string[]
}

/** Nearly all nodes were read in full, so nothing is allocated for them. */
const addUnasked = (node: Node, passOver: ReadonlySet<string>, searched: Unasked): void => {
  const { watch } = node
  if (watch === null) return
  for (const key in node.members) {
    if (watch.whole || searched.found.length >= searched.most) break
    if (watch.asked.includes(key) || passOver.has(key)) continue
    const value = node.members[key]
    if (value !== null && !(searched.empty && isEmpty(value))) searched.found.push(memberPath(node, key))
  }
  // A disowned member gets one warning for the whole of it.
  for (const inner of watch.inside ?? [])
    if (watch.whole || watch.asked.includes(inner.key)) addUnasked(inner.node, searched.inside, searched)
}

/** Clients send false, '', [] and {} where they set nothing. */
const isEmpty = (value: unknown): boolean => {
  if (value === false || value === '') return true
  if (!isObject(value)) return Array.isArray(value) && value.length === 0
  for (const _ in value) return false
  return true
}

export const malformedMember = (node: Node, key: string, message: string): GatewayError =>
  malformed(node.fault, memberPath(node, key), message)

export const malformed = (fault: Fault, path: string, message: string): GatewayError =>
  new GatewayError(fault, `${path} ${message}.`, { metadata: { issues: [{ path, message: `${message}.` }] } })

const memberPath = (node: Node, key: string): string => (node.path === '' ? key : `${node.path}.${key}`)

const inside = (node: Node, key: string, value: unknown, path: string): Node => {
  const { watch } = node
  if (watch === null) return nodeAt(value, path, node.fault)
  const inner = nodeAt(value, path, node.fault, newWatch())
  watch.inside ??= []
  watch.inside.push({ key, node: inner })
  return inner
}

const NO_ITEMS: readonly unknown[] = []

const itemsOf = (value: unknown, path: string, fault: Fault): readonly unknown[] => {
  if (value === undefined || value === null) return NO_ITEMS
  if (!Array.isArray(value)) throw malformed(fault, path, 'must be a list')
  return value
}
