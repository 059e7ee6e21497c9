/** Relays the request of a client that speaks Messages: its own JSON text, with only the fields of this service replaced. */
import { CLAUDES_BASH, claudesBash } from '../../canonical/claudes-bash.ts'
import { lookForSealedProof } from '../../canonical/reasoning.ts'
import { withoutUnsentFields } from '../../request-fields/service-fields.ts'
import type { Steps } from '../../lib/steps.ts'
import { isObject, type JsonObject, type JsonValue, type JsonChanges } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import { testInSteps } from '../../lib/text/search-steps.ts'
import { type EditableFields, fieldsOfBody } from '../vendors/editable-fields.ts'
import { loseCarried, type Losses, lossesTo } from '../losses/losses.ts'
import { holdsThinkingOfOthers } from '../thinking/proof-makers.ts'
import type { Attempt, Target } from '../provider.ts'
import { isKnownVendor } from '../vendors/vendors.ts'
import { mayBreakMarks, settleCacheMarks } from './cache-marks.ts'
import { defaultMaxTokens } from './encode-reasoning.ts'
import { isImitation, rulesOf } from './model-rules.ts'
import { type RelayedConversation, relayConversation, systemBlocks } from './relay-conversation.ts'
import { MAY_BE_BLANK } from './relayed-messages.ts'
import { refusePlainAddresses } from './plain-addresses.ts'
import { applyModelRules } from './relay-rules.ts'
import { encodeServiceTier } from './service-tier.ts'
import { mayHoldUnsupportedMedia, refuseUnsupportedMedia } from '../media/unsupported-media.ts'
import { refuseStoredFiles } from './stored-files.ts'
import { unbilledMessages, unbilledSystem } from './unbilled.ts'
import { loseOfBash } from '../tools/bash-as-function.ts'
import { isWebSearch, webSearchTool } from './web-search-tool.ts'

/** Returns the changes to the client's body. */
export function* relayChanges(attempt: Attempt): Steps<JsonChanges> {
  const { body } = attempt.call
  loseCarried(attempt)
  yield* refuseStoredFiles(body, attempt.target)
  yield
  yield* refusePlainAddresses(attempt, true)
  yield
  yield* refuseSound(attempt)
  yield
  // `max_tool_calls` limits tools that this service runs, so no provider gets it.
  const changes: Record<string, string | null> = { ...withoutUnsentFields(body), betas: null, max_tool_calls: null }
  changes['model'] = JSON.stringify(attempt.target.upstreamModel)
  if (body.value('max_tokens') === undefined) changes['max_tokens'] = String(defaultMaxTokens(attempt.target))
  yield
  const relayed = yield* conversation(attempt)
  yield
  Object.assign(changes, relayed?.changes)
  if (isImitation(attempt.target)) {
    const system = unbilledSystem(body.raw('system'))
    if (system !== undefined) changes['system'] = system
    const messages = yield* unbilledMessages(changes['messages'] ?? body.raw('messages'))
    if (messages !== undefined) changes['messages'] = messages
  }
  const fields = fieldsOfBody(body, changes)
  nameUser(fields)
  nameTier(fields, attempt)
  nameTools(fields, attempt)
  yield
  const words = yield* applyModelRules(fields, attempt, relayed?.turns ?? [])
  yield* fields.written()
  const sent = (name: string): string | undefined => (Object.hasOwn(changes, name) ? changes[name] : body.raw(name)) ?? undefined
  if (words !== undefined) changes['system'] = withWords(sent('system'), words)
  yield
  if (yield* mayBreakMarks(body.searchable)) {
    const marked = { tools: sent('tools'), system: sent('system'), messages: sent('messages'), cache_control: sent('cache_control') }
    Object.assign(changes, yield* settleCacheMarks(marked, attempt))
  }
  return changes
}

/** Claude reads only text, pictures and documents, whatever else the client's dialect may have in the future. */
function* refuseSound({ call: { body }, target: given, warn }: Attempt): Steps<void> {
  const target = rulesOf(given.upstreamModel).claude ? { ...given, inputModalities: CLAUDE_READS } : given
  const messages = (yield* mayHoldUnsupportedMedia(body.searchable, target)) ? body.value('messages') : undefined
  if (Array.isArray(messages)) refuseUnsupportedMedia(messages, 'messages', { target, ...lossesTo(warn) })
}

const CLAUDE_READS = ['text', 'image', 'file']

/** `user` is our field for `metadata.user_id` in this dialect. */
const nameUser = (fields: EditableFields): void => {
  const user = fields.value('user')
  const metadata = fields.value('metadata')
  fields.remove('user')
  const named = isObject(metadata) && (metadata['user_id'] ?? null) !== null
  if (typeof user === 'string' && !named) fields.put('metadata', { ...(isObject(metadata) ? metadata : {}), user_id: user })
}

/** The tiers of this service's other interfaces are accepted here too. */
const nameTier = (fields: EditableFields, { warn }: Attempt): void => {
  const given = fields.value('service_tier')
  if (typeof given !== 'string') return
  const sent = encodeServiceTier(given, 'service_tier', lossesTo(warn))
  if (sent === undefined) fields.remove('service_tier')
  else if (sent !== given) fields.put('service_tier', sent)
}

/**
 * The provider does not know the tools of this service, but has a web search of its own that replaces ours. Claude's shell is run by the
 * client for any model.
 */
const nameTools = (fields: EditableFields, { call, target, warn }: Attempt): void => {
  const raw = call.body.rawSearchable('tools')
  const tools = raw !== undefined && OWN_TOOL.test(raw) ? fields.value('tools') : undefined
  if (!Array.isArray(tools)) return
  const { lose } = lossesTo(warn)
  const kept = (tools as readonly JsonValue[]).flatMap((tool, index): readonly JsonValue[] => {
    const type = isObject(tool) ? tool['type'] : undefined
    if (typeof type === 'string' && CLAUDES_BASH.test(type) && !mayBeClaude(target))
      return [bashFunction(tool, `tools[${index}]`, { lose })]
    if (typeof type !== 'string' || !/^(?:service|openrouter):/.test(type)) return [tool]
    if (isWebSearch(type)) return [{ ...webSearchTool(tool, `tools[${index}]`, { lose }), ...markOf(tool) } as JsonObject]
    lose(`tools[${index}]`, `${target.providerName} has no tool like ${type}; it was left out.`)
    return []
  })
  if (kept.length === tools.length && kept.every((tool, index) => tool === tools[index])) return
  if (kept.length > 0) return fields.put('tools', kept)
  fields.remove('tools')
  fields.remove('tool_choice')
}

const OWN_TOOL = /"(?:(?:service|openrouter):|bash_\d)/

/** An unknown server may be a proxy in front of Claude. */
const mayBeClaude = ({ provider, upstreamModel }: Target): boolean =>
  provider === 'anthropic' || rulesOf(upstreamModel).claude || !isKnownVendor(provider)

/** Only Claude is trained on its shell; other models get it as a function. */
const bashFunction = (tool: JsonValue, at: string, losses: Pick<Losses, 'lose'>): JsonObject => {
  const { name, description, parameters } = claudesBash()
  if (isObject(tool)) loseOfBash(tool, at, losses)
  return { name, description, input_schema: parameters as JsonObject, ...markOf(tool) }
}

const markOf = (tool: JsonValue): JsonObject => {
  const { cache_control: mark = null } = isObject(tool) ? tool : {}
  return mark === null ? {} : { cache_control: mark }
}

/** JSON text of a system prompt with one more paragraph. */
const withWords = (system: string | undefined, words: string): string =>
  `[${[...systemBlocks(system), JSON.stringify({ type: 'text', text: words })].join(',')}]`

/**
 * Undefined if a search of the text shows that the conversation can be passed on as it came: for Claude, all messages are the user's and
 * none is empty; for other models, there are no calls and no foreign thinking.
 */
function* conversation(attempt: Attempt): Steps<RelayedConversation | undefined> {
  const { call, target, makerOf } = attempt
  const { body } = call
  const foreign =
    (yield* lookForSealedProof(body.searchable)) ||
    (!isImitation(target) && (yield* testInSteps(UNSIGNED, body.searchable))) ||
    (makerOf !== undefined && holdsThinkingOfOthers(body.searchable, target.modelId, makerOf))
  const { claude } = rulesOf(target.upstreamModel)
  const looked =
    foreign ||
    (claude
      ? (yield* lookForName(NOT_USER, body.searchable)) || (yield* testInSteps(MAY_BE_BLANK, body.searchable))
      : yield* lookForName(CALL, body.searchable))
  const messages = looked ? body.raw('messages') : undefined
  yield
  return messages === undefined ? undefined : yield* relayConversation({ messages, system: body.raw('system') }, attempt)
}

/** Matches other roles, and blocks that have rules of their own. */
const NOT_USER = /"role"\s*:\s*"(?!user")|:\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"/

const CALL = /:\s*"tool_use"/

/** The thinking of models that sign nothing comes to Messages clients unsigned, and they send it back like that. */
const UNSIGNED = /"signature"\s*:\s*""/
