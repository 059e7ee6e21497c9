/** The request of a client that speaks Messages: its own JSON text, with only what this service owns replaced. */
import { mayHoldSealedProof, openProof } from '../../canonical/reasoning.ts'
import { withoutServiceFields } from '../../request-fields/service-fields.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { editElements, editMembers, type JsonChanges, rawMember } from '../../lib/json-splice.ts'
import { isObject } from '../../lib/json.ts'
import { fieldsOfBody } from '../editable-fields.ts'
import { holdsThinkingOfOthers } from '../proof-makers.ts'
import type { Attempt } from '../provider.ts'
import { limitCacheMarks, mayExceedMarks } from './cache-marks.ts'
import { toolUseId } from './encode-blocks.ts'
import { defaultMaxTokens } from './encode-thinking.ts'
import { rulesOf } from './model-rules.ts'
import { applyModelRules } from './relay-rules.ts'
import { encodeServiceTier } from './service-tier.ts'
import { settleSystemTurns } from './system-turns.ts'
import { isWebSearch, webSearchTool } from './web-search-tool.ts'

type Json = Record<string, unknown>

/** What is changed in the client's body. */
export const relayChanges = (attempt: Attempt): JsonChanges => {
  const { body } = attempt.call
  const changes: Record<string, string | null> = { ...withoutServiceFields, betas: null }
  // Null is "left out" to this service, and a fault to the provider.
  for (const key of body.keys) if (body.rawSearchable(key) === 'null') changes[key] = null
  changes['model'] = JSON.stringify(attempt.target.upstreamModel)
  if (body.value('max_tokens') === undefined) changes['max_tokens'] = String(defaultMaxTokens(attempt.target))
  Object.assign(changes, endUser(body), tier(attempt), serverTools(attempt), history(attempt))
  const sent = (name: string): string | undefined => (Object.hasOwn(changes, name) ? changes[name] : body.raw(name)) ?? undefined
  applyModelRules(fieldsOfBody(body, changes), attempt, () => isUnthoughtLoop(sent('messages')))
  if (mayExceedMarks(body.searchable)) {
    const whole = (sent('cache_control') ?? 'null') !== 'null'
    Object.assign(changes, limitCacheMarks({ tools: sent('tools'), system: sent('system'), messages: sent('messages'), whole }, attempt))
  }
  return changes
}

/** `user` is our field for what this dialect says in `metadata.user_id`. */
const endUser = (body: JsonBody): Record<string, string | null> => {
  if (!body.has('user')) return {}
  const user = body.value('user')
  const metadata = body.value('metadata')
  const named = isObject(metadata) && (metadata['user_id'] ?? null) !== null
  return typeof user !== 'string' || named
    ? { user: null }
    : { user: null, metadata: JSON.stringify({ ...(isObject(metadata) ? metadata : {}), user_id: user }) }
}

/** The tiers of this service's other interfaces are accepted here too. */
const tier = ({ call, warn }: Attempt): Record<string, string | null> => {
  const given = call.body.value('service_tier')
  if (typeof given !== 'string') return {}
  const sent = encodeServiceTier(given, 'service_tier', {
    lose: (field, message) => warn({ code: 'unsupported_field', field, message }),
    mapped: (field, message) => warn({ code: 'mapped_field', field, message }),
  })
  return sent === given ? {} : { service_tier: sent === undefined ? null : JSON.stringify(sent) }
}

/** Tools that this service names itself mean nothing to the provider; it has a web search of its own. */
const serverTools = ({ call, target, warn }: Attempt): Record<string, string | null> => {
  const raw = call.body.raw('tools')
  const tools = raw !== undefined && OWN_TOOL.test(raw) ? call.body.value('tools') : undefined
  if (!Array.isArray(tools)) return {}
  const lose = (field: string, message: string): void => warn({ code: 'unsupported_field', field, message })
  const kept = tools.flatMap((tool: unknown, index): unknown[] => {
    const type = isObject(tool) ? tool['type'] : undefined
    if (typeof type !== 'string' || !/^(?:service|openrouter):/.test(type)) return [tool]
    if (isWebSearch(type)) return [webSearchTool(tool, `tools[${index}]`, { lose })]
    lose(`tools[${index}]`, `${target.providerName} has no tool like ${type}; it was left out.`)
    return []
  })
  return kept.length === 0 ? { tools: null, tool_choice: null } : { tools: JSON.stringify(kept) }
}

const OWN_TOOL = /"(?:service|openrouter):/

/** The history as the provider takes it: no thinking of others, and the words of the system where the model knows them. */
const history = (attempt: Attempt): Record<string, string> => {
  const { call, target, warn, makerOf } = attempt
  const { body } = call
  const { claude, systemTurns } = rulesOf(target.upstreamModel)
  const foreign =
    mayHoldSealedProof(body.searchable) ||
    UNSIGNED.test(body.searchable) ||
    (makerOf !== undefined && holdsThinkingOfOthers(body.searchable, target.modelId, makerOf))
  const strangeIds = claude && STRANGE_ID.test(body.searchable)
  const directed = claude && SYSTEM_TURN.test(body.searchable)
  const given = foreign || directed || strangeIds ? body.raw('messages') : undefined
  const messages = given === undefined ? undefined : body.value('messages')
  if (given === undefined || !Array.isArray(messages)) return {}
  const own = foreign || strangeIds ? ownHistory(given, messages, attempt, strangeIds) : given
  const mapped = (field: string): void => {
    const message = `${target.upstreamModel} takes no system message here; its words were sent in the system prompt or as the user's.`
    warn({ code: 'mapped_field', field, message })
  }
  const settled = directed ? settleSystemTurns({ messages: own, system: body.raw('system'), systemTurns, mapped }) : null
  if (settled !== null) return { ...settled }
  return own === given ? {} : { messages: own }
}

/** An id of a call that Claude refuses, as other models write them; of a call whose id is written with escapes nothing is known. */
const STRANGE_ID = /"(?:tool_use_)?id"\s*:\s*"(?![a-zA-Z0-9_-]+")/

const SYSTEM_TURN = /"role"\s*:\s*"system"/

/** The thinking of models that prove nothing comes to Messages clients unsigned, and they send it back so. */
const UNSIGNED = /"signature"\s*:\s*""/

/**
 * Thinking of other makers goes no further: what this service sealed into the dialect's own fields, and what nobody signed.
 * Only the blocks that hold it change; the rest of the text stays as the client wrote it.
 */
const ownHistory = (text: string, messages: readonly unknown[], { target, warn, makerOf }: Attempt, strangeIds: boolean): string =>
  editElements(text, (messageText, index) => {
    const message = messages[index]
    const blocks = isObject(message) ? message['content'] : undefined
    const given = Array.isArray(blocks) ? rawMember(messageText, 'content') : undefined
    if (given === undefined || !Array.isArray(blocks)) return messageText
    let kept = 0
    const content = editElements(given, (blockText, position) => {
      const block: unknown = blocks[position]
      const own = isObject(block) ? provenBlock(block, blockText, target.modelId, makerOf) : blockText
      if (own !== null) kept += 1
      return own !== null && strangeIds && isObject(block) ? withLawfulId(block, own) : own
    })
    if (kept < blocks.length) {
      const told = `Thinking that ${target.modelId} did not do itself was left out.`
      warn({ code: 'unsupported_field', field: `messages[${index}]`, message: told })
    }
    if (kept === 0) return null
    return content === given ? messageText : editMembers(messageText, { content })
  })

/** Between a call and its result a model that thinks wants its thinking back: where the calls were made without any, it is refused. */
const isUnthoughtLoop = (text: string | undefined): boolean => {
  const messages: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!Array.isArray(messages) || !hasBlock(messages.at(-1), 'user', ['tool_result'])) return false
  const turn: unknown = messages.findLast((message) => isObject(message) && message['role'] === 'assistant')
  const [first] = blocksOf(turn)
  return !isObject(first) || (first['type'] !== 'thinking' && first['type'] !== 'redacted_thinking')
}

const hasBlock = (message: unknown, role: string, types: readonly unknown[]): boolean =>
  isObject(message) && message['role'] === role && blocksOf(message).some((block) => isObject(block) && types.includes(block['type']))

const blocksOf = (message: unknown): readonly unknown[] =>
  isObject(message) && Array.isArray(message['content']) ? message['content'] : []

const ID_MEMBERS: Readonly<Record<string, string>> = { tool_use: 'id', tool_result: 'tool_use_id' }

/** The block's text, with an id that the provider takes: the same for a call and for its result. */
const withLawfulId = (block: Json, text: string): string => {
  const member = ID_MEMBERS[String(block['type'])]
  const id = member === undefined ? undefined : block[member]
  if (member === undefined || typeof id !== 'string') return text
  const lawful = toolUseId(id)
  return lawful === id ? text : editMembers(text, { [member]: JSON.stringify(lawful) })
}

/** The block's text as the model may have it back, or null for none of it. */
const provenBlock = (block: Json, text: string, modelId: string, makerOf: Attempt['makerOf']): string | null => {
  const { type } = block
  if (type === 'thinking' || type === 'redacted_thinking') {
    const held = type === 'thinking' ? block['signature'] : block['data']
    if (held === '') return null
    const proof = typeof held === 'string' ? openProof(held) : null
    if (proof === null) return typeof held === 'string' && (makerOf?.(held) ?? modelId) !== modelId ? null : text
    if (proof.format !== 'anthropic-claude-v1' || (proof.model !== undefined && proof.model !== modelId)) return null
    return proof.kind === 'encrypted'
      ? JSON.stringify({ type: 'redacted_thinking', data: proof.data })
      : editMembers(text, { type: '"thinking"', signature: JSON.stringify(proof.data) })
  }
  if (type !== 'tool_use') return text
  const sealed = Object.keys(block).filter((key) => {
    const value = block[key]
    return typeof value === 'string' && openProof(value) !== null
  })
  return sealed.length === 0 ? text : editMembers(text, Object.fromEntries(sealed.map((key) => [key, null])))
}
