/** The request of a client that speaks Messages: its own JSON text, with only what this service owns replaced. */
import { mayHoldSealedProof, openProof } from '../../canonical/reasoning.ts'
import { withoutServiceFields } from '../../canonical/service-fields.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { isObject } from '../../lib/json.ts'
import type { Attempt } from '../provider.ts'
import { defaultMaxTokens } from './encode-thinking.ts'
import { encodeServiceTier } from './service-tier.ts'
import { isWebSearch, webSearchTool } from './web-search-tool.ts'

type Json = Record<string, unknown>

export const relayRequest = (attempt: Attempt): string => {
  const { body } = attempt.call
  const changes: Record<string, string | null> = { ...withoutServiceFields }
  // Null is "left out" to this service, and a fault to the provider.
  for (const key of body.keys) if (body.raw(key) === 'null') changes[key] = null
  changes['model'] = JSON.stringify(attempt.target.upstreamModel)
  if (body.value('max_tokens') === undefined) changes['max_tokens'] = String(defaultMaxTokens(attempt.target))
  Object.assign(changes, endUser(body), tier(attempt), serverTools(attempt), provenHistory(attempt))
  return body.textWith(changes)
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

/** Thinking of other makers, which this service sealed into the dialect's own fields, goes no further. */
const provenHistory = ({ call, target, warn }: Attempt): Record<string, string> => {
  if (!mayHoldSealedProof(call.body.text)) return {}
  const messages = call.body.value('messages')
  if (!Array.isArray(messages)) return {}
  const kept = messages.flatMap((message: unknown, index): unknown[] => {
    if (!isObject(message) || !Array.isArray(message['content'])) return [message]
    const content = message['content'].flatMap((block: unknown) => (isObject(block) ? provenBlock(block, target.modelId) : [block]))
    if (content.length < message['content'].length) {
      const told = `Thinking that ${target.modelId} did not do itself was left out.`
      warn({ code: 'unsupported_field', field: `messages[${index}]`, message: told })
    }
    return content.length === 0 ? [] : [{ ...message, content }]
  })
  return { messages: JSON.stringify(kept) }
}

const provenBlock = (block: Json, modelId: string): Json[] => {
  const { type } = block
  if (type === 'thinking' || type === 'redacted_thinking') {
    const held = type === 'thinking' ? block['signature'] : block['data']
    const proof = typeof held === 'string' ? openProof(held) : null
    if (proof === null) return [block]
    if (proof.format !== 'anthropic-claude-v1' || (proof.model !== undefined && proof.model !== modelId)) return []
    return [
      proof.kind === 'encrypted' ? { type: 'redacted_thinking', data: proof.data } : { ...block, type: 'thinking', signature: proof.data },
    ]
  }
  if (type !== 'tool_use') return [block]
  const sealed = Object.keys(block).filter((key) => {
    const value = block[key]
    return typeof value === 'string' && openProof(value) !== null
  })
  return [sealed.length === 0 ? block : Object.fromEntries(Object.entries(block).filter(([key]) => !sealed.includes(key)))]
}
