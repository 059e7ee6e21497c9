/**
 * `context-compression`: removes messages from the middle of a conversation that is longer than its model's context. System
 * messages, the first message and the last one stay; a tool call is never separated from its result.
 */
import type { ClientDialect } from '../canonical/call.ts'
import { conversationMedia } from '../canonical/conversation-media.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { editElementsInSteps } from '../lib/json/json-splice.ts'
import { writeInSteps } from '../lib/json/json-steps.ts'
import { isObject, type JsonObject } from '../lib/json/json.ts'
import { startPace, type Steps } from '../lib/steps.ts'

/** Models with a context of at most this size get it by default. */
export const DEFAULT_CONTEXT_MAX = 8192

export interface Compressed {
  readonly body: JsonBody
  readonly inputType: 'messages' | 'input'
  readonly originalCount: number
  readonly compressedCount: number
}

/**
 * Returns true or false if the request says whether it wants compression, else null. `transforms` is the legacy field, and an
 * empty list in it means no.
 */
export const wantsCompression = (body: JsonBody): boolean | null => {
  const plugins = body.value('plugins')
  const plugin = Array.isArray(plugins) ? plugins.find((one) => isObject(one) && one['id'] === 'context-compression') : undefined
  if (isObject(plugin)) return plugin['enabled'] !== false
  const transforms = body.value('transforms')
  if (!Array.isArray(transforms)) return null
  return transforms.length === 0 ? false : transforms.includes('middle-out') || null
}

/**
 * Returns the body without enough messages to save `excessTokens`. Null if nothing can be removed: the conversation is a string,
 * or consists only of what stays.
 */
export function* compressConversation(dialect: ClientDialect, body: JsonBody, excessTokens: number): Steps<Compressed | null> {
  const field = dialect === 'responses' ? 'input' : 'messages'
  const items = body.get(field)
  const raw = body.raw(field)
  yield
  if (!Array.isArray(items) || raw === undefined) return null
  const units = unitsOf(yield* itemsOf(items))
  yield
  const left = new Set<number>()
  let excess = excessTokens
  for (const unit of fromTheMiddle(units)) {
    if (excess <= 0) break
    excess -= unit.tokens
    for (const at of unit.items) left.add(at)
  }
  if (left.size === 0) return null
  return {
    body: yield* body.changing({ [field]: yield* editElementsInSteps(raw, (text, at) => (left.has(at) ? null : text)) }),
    inputType: field,
    originalCount: items.length,
    compressedCount: items.length - left.size,
  }
}

interface Item {
  readonly kind: 'system' | 'user' | 'assistant' | 'reasoning' | 'call' | 'result'
  /** Ids of the calls in the item, and of the calls whose results are in it. */
  readonly callIds: readonly string[]
  readonly tokens: number
}

/** Items that are removed or kept together. */
interface Unit {
  readonly items: readonly number[]
  readonly tokens: number
  readonly stays: boolean
}

function* itemsOf(values: readonly unknown[]): Steps<readonly Item[]> {
  const items: Item[] = []
  const isStep = startPace()
  for (const value of values) {
    const item: JsonObject = isObject(value) ? (value as JsonObject) : {}
    const callIds = callIdsIn(item)
    const { bytes, tokens } = yield* sizeOf(value)
    items.push({ kind: kindOf(item, callIds.length > 0), callIds, tokens })
    if (isStep(bytes)) yield
  }
  return items
}

const kindOf = ({ role, type }: JsonObject, hasCalls: boolean): Item['kind'] => {
  if (role === 'system' || role === 'developer') return 'system'
  if (role === 'tool' || role === 'function') return 'result'
  if (role === 'user') return hasCalls ? 'result' : 'user'
  if (role === 'assistant') return 'assistant'
  if (type === 'reasoning') return 'reasoning'
  if (typeof type === 'string' && type.endsWith('_output')) return 'result'
  return 'call'
}

/** Reads call ids as the three interfaces place them: in members of an item, of its calls, or of its blocks. */
const callIdsIn = (item: JsonObject): readonly string[] => {
  const { tool_calls: calls, content, call_id: id, tool_call_id: answered } = item
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const named = [
    id,
    answered,
    ...(Array.isArray(calls) ? calls.map((call) => (isObject(call) ? call['id'] : null)) : []),
    ...blocks.map((block) => (block['type'] === 'tool_use' || block['type'] === 'server_tool_use' ? block['id'] : block['tool_use_id'])),
  ]
  return named.filter((one): one is string => typeof one === 'string')
}

const CHARACTERS_PER_TOKEN = 4
const IMAGE_TOKENS = 1290

function* sizeOf(value: unknown): Steps<{ readonly bytes: number; readonly tokens: number }> {
  const { characters, images } = yield* conversationMedia([value])
  const bytes = Buffer.byteLength(yield* writeInSteps(value))
  return { bytes, tokens: Math.max(0, bytes - characters) / CHARACTERS_PER_TOKEN + images * IMAGE_TOKENS }
}

const unitsOf = (items: readonly Item[]): readonly Unit[] => {
  const owner = items.map((_, at) => at)
  const rootOf = (at: number): number => {
    let root = at
    while (owner[root] !== root) root = owner[root] ?? root
    // Path compression: every span on the way now points to the root.
    for (let step = at; step !== root;) {
      const next = owner[step] ?? root
      owner[step] = root
      step = next
    }
    return root
  }
  const join = (one: number, other: number): void => {
    owner[rootOf(other)] = rootOf(one)
  }
  const firstOfCall = new Map<string, number>()
  for (const [at, item] of items.entries()) {
    const before = items[at - 1]
    if (before !== undefined && belongTogether(before, item)) join(at - 1, at)
    for (const id of item.callIds) {
      const first = firstOfCall.get(id)
      if (first === undefined) firstOfCall.set(id, at)
      else join(first, at)
    }
  }
  const spoken = items.flatMap(({ kind }, at) => (kind === 'system' ? [] : [at]))
  const first = spoken.at(0)
  const last = spoken.at(-1)
  const byRoot = Map.groupBy(items.keys(), rootOf)
  return [...byRoot.values()].map((members) => ({
    items: members,
    tokens: members.reduce((sum, at) => sum + (items[at]?.tokens ?? 0), 0),
    stays: members.some((at) => at === first || at === last || items[at]?.kind === 'system'),
  }))
}

/** Thinking belongs to what follows it, and a call to the text before it and to the calls of the same turn. */
const belongTogether = (before: Item, item: Item): boolean =>
  before.kind === 'reasoning' ? item.kind !== 'user' : item.kind === 'call' && (before.kind === 'call' || before.kind === 'assistant')

/** The removable units, those nearest to the middle first. */
const fromTheMiddle = (units: readonly Unit[]): readonly Unit[] => {
  const may = units.filter(({ stays }) => !stays)
  const middle = (may.length - 1) / 2
  return may
    .map((unit, at) => ({ unit, distance: Math.abs(at - middle) }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ unit }) => unit)
}
