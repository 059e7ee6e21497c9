/**
 * Relays the history of a chat client to a chat upstream. Clients send back whole answers of any provider that gave them, with thinking,
 * sources and marks that another vendor refuses. A search of the text shows whether there are any; nearly always there are none, and the
 * messages are passed on as they were written.
 */
import { readPlacedId } from '../../canonical/place-of-thought.ts'
import { openProof } from '../../canonical/reasoning.ts'
import { isList, isObject, type JsonObject, type JsonValue, listOf, textOf } from '../../lib/json/json.ts'
import { rewrittenText } from '../../lib/json/json-rewrite.ts'
import { includesInSteps, testInSteps } from '../../lib/text/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Attempt } from '../provider.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { answerable } from '../tools/answerable.ts'
import { mayHoldUnsupportedMedia, refuseUnsupportedMedia } from '../media/unsupported-media.ts'
import { mayBeOf, thinkingBackTo } from './encode-thinking.ts'
import { lookForDoubts } from './doubtful-messages.ts'
import { applyMessageRules } from './message-rules.ts'
import { mapCalls, mapMessages, type PlacedMessage } from './placed-message.ts'
import { lossesTo } from '../losses/losses.ts'
import { isThinkingPart, withoutThinkingParts, withThinkingPart } from './thinking-parts.ts'

/** JSON text for `messages`, or null if they can stay as they are. Throws `invalid_request` for parts that cannot be carried. */
export function* relayedMessages(attempt: Attempt, vendor: Vendor): Steps<string | null> {
  const { target, warn } = attempt
  const { body } = attempt.call
  const text = body.searchable
  const thinking =
    vendor.thinkingBack === 'untouched'
      ? yield* testInSteps(DETAILS, text)
      : (yield* testInSteps(THINKING, text)) || (needsFiller(vendor) && (yield* includesInSteps(text, '"tool_calls"')))
  const extras = vendor.strictMessages && (yield* testInSteps(EXTRAS, text))
  const refusals = !vendor.refusals && vendor.accepts !== 'everything' && (yield* testInSteps(REFUSAL, text))
  // An unknown server gets everything as it is.
  const doubtful = vendor.accepts !== 'everything' && (yield* lookForDoubts(body.rawSearchable('messages') ?? '', vendor))
  yield
  const unsupported = yield* mayHoldUnsupportedMedia(text, target)
  if (!thinking && !extras && !refusals && !doubtful && !unsupported) return null

  yield
  const messages = body.value('messages')
  yield
  const given = body.raw('messages')
  if (given === undefined || !Array.isArray(messages)) return null
  const placed = messages.flatMap((message: JsonValue, index): PlacedMessage[] =>
    isObject(message) ? [{ message, at: `messages[${index}]` }] : [],
  )
  if (placed.length < messages.length) return null
  const losses = lossesTo(warn)
  if (unsupported) refuseUnsupportedMedia(messages, 'messages', { target, ...losses })
  yield
  const own = yield* mapMessages(placed, (message, at) => {
    if (message['role'] !== 'assistant') return extras ? withoutNulls(message) : message
    const lose = (what: string): void => losses.lose(at, `${target.providerName} ${what}`)
    const thought = thinking ? withThinking(message, attempt, vendor, lose) : message
    const said = refusals ? withRefusalAsWords(thought) : thought
    return extras ? withoutExtras(said, vendor) : said
  })
  const sent = doubtful
    ? yield* applyMessageRules(own, { target, vendor, warn, partAt: (at, index) => `${at}.content[${index}]`, ...losses })
    : own
  if (sent === placed) return null
  yield
  return yield* rewrittenText(
    answerable(placed, sent).map(({ message }) => message),
    messages,
    given,
  )
}

const needsFiller = ({ thinkingBack }: Vendor): boolean => typeof thinkingBack === 'object' && thinkingBack.filler !== null

const THINKING = /"(?:reasoning(?:_content|_details)?|thinking_blocks)"\s*:|"type"\s*:\s*"thinking"/
/** Thinking with a known maker; other members for thinking may be the server's own. */
const DETAILS = /"reasoning_details"\s*:/
const EXTRAS = /"(?:annotations|images|audio|refusal|function_call|prefix|index)"\s*:|"tool_call(?:s|_id)"\s*:\s*null/
const EXTRA_MEMBERS: ReadonlySet<string> = new Set(['annotations', 'images', 'audio', 'refusal', 'function_call'])

const REFUSAL = /"refusal"\s*:\s*"(?!")/

/** A vendor without refusals may ignore the member, and then the turn says nothing, or less. */
const withRefusalAsWords = (message: JsonObject): JsonObject => {
  const { refusal, ...rest } = message
  if (typeof refusal !== 'string' || refusal === '') return message
  const { content } = rest
  if (content !== undefined && isList(content)) return { ...rest, content: [...content, { type: 'text', text: refusal }] }
  return { ...rest, content: [textOf(content), refusal].filter((said) => said !== '').join('\n\n') }
}

/** A client's own SDK writes null for the members that an answer did not have, and others keep the `index` of a streamed call. */
const withoutExtras = (message: JsonObject, { prefixes }: Vendor): JsonObject => {
  const isExtra = (key: string): boolean => EXTRA_MEMBERS.has(key) || (key === 'prefix' && !prefixes)
  const kept = Object.entries(message).filter(([key, value]) => !isExtra(key) && (value !== null || key === 'content'))
  const said = kept.length === Object.keys(message).length ? message : Object.fromEntries(kept)
  return prefixes ? said : mapCalls(said, withoutIndex)
}

/** Some SDKs write the members of every role into each message. */
const withoutNulls = (message: JsonObject): JsonObject => {
  const kept = Object.entries(message).filter(([, value]) => value !== null)
  return kept.length === Object.keys(message).length ? message : Object.fromEntries(kept)
}

const withoutIndex = (call: JsonObject): JsonObject => {
  const { index, ...rest } = call
  return index === undefined ? call : rest
}

type Lose = (what: string) => void

const withThinking = (message: JsonObject, attempt: Attempt, vendor: Vendor, lose: Lose): JsonObject => {
  const thinkingBack = thinkingBackTo(vendor, attempt.target)
  if (message['thinking_blocks'] !== undefined && thinkingBack !== 'untouched') {
    const { thinking_blocks: blocks, ...others } = message
    const proven = Array.isArray(blocks) && blocks.some((block) => isObject(block) && (block['signature'] ?? block['data'] ?? '') !== '')
    if (proven) lose('takes no thinking in blocks; it was left out.')
    return withThinking(others, attempt, vendor, lose)
  }
  const isInContent = typeof thinkingBack === 'object' && thinkingBack.field === 'content'
  if (!isInContent && thinkingBack !== 'untouched' && listOf(message['content']).some(isThinkingPart))
    return withThinking(withoutThinkingParts(message), attempt, vendor, lose)
  const given = message['reasoning_details']
  const details = Array.isArray(given) ? given.filter((detail): detail is JsonObject => isObject(detail)) : []
  const foreign = foreignOf(details, attempt)
  if (thinkingBack === 'details' || thinkingBack === 'untouched') {
    if (foreign.size === 0) return thinkingBack === 'details' ? withMakersIds(message, details) : message
    lose('did not make the thinking of this turn; it was left out.')
    const own = details.filter((detail) => !foreign.has(detail))
    const { reasoning_details: _, ...rest } = message
    if (own.length > 0) return withMakersIds({ ...rest, reasoning_details: own }, own)
    // `reasoning` repeats in plain text what the details hold.
    const { reasoning: _text, ...said } = rest
    return said
  }

  const { reasoning_details: _details, reasoning, reasoning_content: content, ...rest } = message
  const proven = details.some((detail) => typeof detail['signature'] === 'string' || typeof detail['data'] === 'string')
  if (proven) lose('did not make the thinking of this turn; it was left out.')
  if (thinkingBack === 'none') return Object.keys(rest).length === Object.keys(message).length ? message : rest
  const { field, filler } = thinkingBack
  const [own, other] = field === 'reasoning_content' ? [content, reasoning] : [reasoning, content]
  const isWhole = typeof own === 'string' && (own !== '' || filler === null) && field !== 'content'
  if (isWhole && other === undefined && given === undefined) return message
  const calls = rest['tool_calls']
  const text = proven ? undefined : [own, other, textOfDetails(details)].find((said) => typeof said === 'string' && said !== '')
  if (field === 'content' && typeof text === 'string') return withThinkingPart(rest, text)
  if (text !== undefined) return { ...rest, [field]: text }
  if (filler !== null && Array.isArray(calls) && calls.length > 0) return { ...rest, [field]: filler }
  return Object.keys(rest).length === Object.keys(message).length ? message : rest
}

/** The text of thinking that a client sends back in pieces alone. */
const textOfDetails = (details: readonly JsonObject[]): string =>
  details.map(({ text, summary }) => [text, summary].find((said) => typeof said === 'string') ?? '').join('')

/** The place within an id of thinking is this service's own addition: OpenAI refuses encrypted thinking under another id than its own. */
const withMakersIds = (message: JsonObject, details: readonly JsonObject[]): JsonObject => {
  const own = details.map(withMakersId)
  return own.every((detail, index) => detail === details[index]) ? message : { ...message, reasoning_details: own }
}

const withMakersId = (detail: JsonObject): JsonObject => {
  const { id: given, ...rest } = detail
  if (typeof given !== 'string') return detail
  const { id, place } = readPlacedId(given)
  if (place === null) return detail
  return id === null ? rest : { ...rest, id }
}

/** Clients send back the pieces of a stream as they came: the proof of a block is in its last piece. */
const foreignOf = (details: readonly JsonObject[], attempt: Attempt): ReadonlySet<JsonObject> => {
  const foreign = new Set<JsonObject>()
  let next: JsonObject | null = null
  for (const detail of details.toReversed()) {
    const isForeigns = next !== null && foreign.has(next) && isPieceOf(detail, next)
    if (isForeigns || isForeign(detail, attempt)) foreign.add(detail)
    next = detail
  }
  return foreign
}

/** Says whether `detail` is text of the block that `next` continues. */
const isPieceOf = (detail: JsonObject, next: JsonObject): boolean =>
  typeof detail['index'] === 'number' &&
  detail['index'] === next['index'] &&
  ['id', 'format'].every((member) => (detail[member] ?? next[member]) === (next[member] ?? detail[member])) &&
  [detail['signature'], detail['data']].every((proof) => typeof proof !== 'string' || proof === '')

/**
 * Says whether another model made the thinking, or this service sealed it for another interface. An unknown format may be the server's own.
 */
const isForeign = (detail: JsonObject, { target: { modelId, upstreamModel }, makerOf }: Attempt): boolean => {
  const { signature, data } = detail
  const proof = [signature, data].find((held) => typeof held === 'string' && held !== '')
  if (typeof proof === 'string' && (makerOf?.(proof) ?? modelId) !== modelId) return true
  if ([signature, data].some((proof) => typeof proof === 'string' && openProof(proof) !== null)) return true
  // A signature without a format is taken for one of Anthropic, the first to have signatures.
  const format = detail['format'] ?? (typeof signature === 'string' && signature !== '' ? 'anthropic-claude-v1' : null)
  return typeof format === 'string' && !mayBeOf(format, upstreamModel)
}
