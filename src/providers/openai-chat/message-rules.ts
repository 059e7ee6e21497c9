/**
 * Adapts the messages of a Chat Completions request to one vendor: what the vendor would refuse is changed into a form that it takes, left
 * out with a warning, or refused, naming its place. A client's own messages and translated ones go through the same rules.
 */
import { isObject, type JsonObject, type JsonValue, objectsIn, textOf } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { argumentsOfText } from '../tools/text-calls.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { withCallIds } from './call-ids.ts'
import { fileFor } from './file-parts.ts'
import { withLawfulHistory } from './lawful-history.ts'
import { withMediaBehindTools } from './media-behind-tools.ts'
import { callsIn, mapCalls, mapMessages, type PlacedMessage, textOfPart } from './placed-message.ts'
import { withStrictOrder } from './turn-order.ts'
import type { RuleContext } from './message-context.ts'

/** Returns the same messages if the vendor takes them as they are. Throws `invalid_request` for parts that cannot be left out. */
export function* applyMessageRules(given: readonly PlacedMessage[], context: RuleContext): Steps<readonly PlacedMessage[]> {
  const { vendor } = context
  yield
  const called = yield* mapMessages(given, (message) => {
    const whole = withWholeCalls(message)
    return withoutEmptyLists(vendor.customTools ? whole : withFunctionCalls(whole))
  })
  const said = withoutSilence(called)
  // Known vendors refuse calls without results even at the end of the conversation.
  yield
  const lawful = yield* withLawfulHistory(said, vendor.accepts === 'everything', context.warn)
  const apart = vendor.toolMedia ? lawful : withMediaBehindTools(lawful)
  yield
  const fitting = yield* mapMessages(apart, (message, at) => {
    const carried = withMedia(message, at, context)
    return withCallIds(withName(withContent(carried, vendor), at, context), vendor)
  })
  yield
  return vendor.strictOrder ? withStrictOrder(fitting, context) : fitting
}

/** Completes calls without a type, and writes as text the arguments that a client gives as an object: Mistral's client may do both. */
const withWholeCalls = (message: JsonObject): JsonObject =>
  mapCalls(message, (call) => {
    const { type = null, function: called } = call
    if (!isObject(called)) return call
    const { arguments: said } = called
    const typed = type === null ? { ...call, type: 'function' } : call
    return isObject(said) ? { ...typed, function: { ...called, arguments: JSON.stringify(said) } } : typed
  })

/** Converts calls of custom tools for a vendor whose tools take only JSON. */
const withFunctionCalls = (message: JsonObject): JsonObject =>
  mapCalls(message, (call) => {
    const { custom, ...rest } = call
    const [called] = objectsIn([custom ?? null])
    if (called === undefined || call['type'] !== 'custom') return call
    const { name = '', input } = called
    return { ...rest, type: 'function', function: { name, arguments: argumentsOfText(textOf(input)) } }
  })

/** Removes empty lists, which vendors refuse as too short: clients copy one of calls from an answer, and write one of texts beside calls. */
const withoutEmptyLists = (message: JsonObject): JsonObject => {
  const { tool_calls: calls, ...rest } = message
  const called = Array.isArray(calls) && calls.length === 0 ? rest : message
  const { role, content } = called
  return role === 'assistant' && Array.isArray(content) && content.length === 0 ? { ...called, content: null } : called
}

/** Removes assistant messages that say nothing and call nothing, which are refused. */
const withoutSilence = (given: readonly PlacedMessage[]): readonly PlacedMessage[] => {
  const said = given.filter(
    ({ message }) =>
      message['role'] !== 'assistant' || textOf(message['refusal']) !== '' || SAYING.some((member) => (message[member] ?? null) !== null),
  )
  return said.length === given.length ? given : said
}

const SAYING = ['content', 'tool_calls', 'function_call', 'audio', 'images']

const withMedia = (message: JsonObject, at: string, context: RuleContext): JsonObject => {
  const { content, role } = message
  if (!Array.isArray(content) || role === 'assistant') return message
  const parts = content.map((part: JsonValue, index) => {
    if (!isObject(part)) return part
    return FILES.has(part['type']) ? fileFor(part, context.partAt(at, index), context) : withAddress(part)
  })
  return parts.every((part, index) => part === content[index]) ? message : { ...message, content: parts }
}

const FILES: ReadonlySet<unknown> = new Set(['file', 'document_url', 'file_url'])

/** Puts an address without an object around it, as Mistral's client sends it, into one. */
const withAddress = (part: JsonObject): JsonObject => {
  const { type = null, image_url: image, video_url: video } = part
  if (type === 'image_url' && typeof image === 'string') return { ...part, image_url: { url: image } }
  return type === 'video_url' && typeof video === 'string' ? { ...part, video_url: { url: video } } : part
}

/** Sets the vendor's role for developer messages, and the form of content that it takes in each role. */
const withContent = (message: JsonObject, { developerRole, textParts, contentBesideCalls }: Vendor): JsonObject => {
  const next = message['role'] === 'developer' && !developerRole ? { ...message, role: 'system' } : message
  const { role, content = null } = next
  if (content === null) return role === 'tool' || (contentBesideCalls && callsIn(next).length > 0) ? { ...next, content: '' } : next
  if (!Array.isArray(content) || textParts === 'any' || (textParts === 'user' && role === 'user')) return next
  const texts = content.map(textOfPart)
  // Many servers accept lists only if they contain media, so texts are joined, a paragraph each.
  return texts.length > 0 && texts.every((text) => text !== null) ? { ...next, content: texts.join('\n\n') } : next
}

const withName = (message: JsonObject, at: string, { vendor, target, lose }: RuleContext): JsonObject => {
  const { name, ...rest } = message
  const { role } = rest
  const { namedRoles } = vendor
  if (name === undefined || namedRoles === 'any' || (typeof role === 'string' && namedRoles.includes(role))) return message
  // The call already shows which tool's result it is.
  if (name !== null && role !== 'tool') lose(`${at}.name`, `${target.providerName} takes no name of this message; it was left out.`)
  return rest
}
