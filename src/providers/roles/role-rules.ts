/**
 * Rules of servers of open models for the roles of messages. Such servers render a conversation with a template that came with the model,
 * and many templates refuse a conversation that every vendor takes. Only its refusals show which template is loaded.
 */
import type { GatewayError } from '../../errors.ts'
import { vendorOf } from '../vendors/vendors.ts'

/**
 * `system-first`: a single system message, before all others. `no-developer`: the role `developer` is unknown. `alternating`: no two
 * messages of the user in a row.
 */
export type RoleRule = 'system-first' | 'no-developer' | 'alternating'

interface Endpoint {
  readonly provider: string
  readonly baseUrl: string
  readonly upstreamModel: string
}

export interface LearntRoleRules {
  find(endpoint: Endpoint): readonly RoleRule[]
  /** Call it only once a request that keeps the rules was answered. */
  remember(endpoint: Endpoint, rules: ReadonlySet<RoleRule>): void
}

const NOTHING_LEARNT: readonly RoleRule[] = []

const ENDPOINTS_MAX = 1000

/** Kept in memory: another process, or a restarted one, is refused once more and then knows. */
export const createLearntRoleRules = (): LearntRoleRules => {
  /** In the order in which they were learnt, the oldest first. */
  const known = new Map<string, readonly RoleRule[]>()
  return {
    find: (endpoint) => (known.size === 0 ? NOTHING_LEARNT : (known.get(keyOf(endpoint)) ?? NOTHING_LEARNT)),
    remember(endpoint, rules) {
      const key = keyOf(endpoint)
      known.delete(key)
      known.set(key, [...rules])
      if (known.size <= ENDPOINTS_MAX) return
      const [oldest] = known.keys()
      if (oldest !== undefined) known.delete(oldest)
    },
  }
}

const keyOf = ({ provider, baseUrl, upstreamModel }: Endpoint): string => JSON.stringify([provider, baseUrl, upstreamModel])

/**
 * Says whether it is a server with unknown templates: its refusals may teach rules, and it may know roles and parts that its dialect does
 * not name. Known vendors are taken at the word of their documentation.
 */
export const hasOwnTemplates = (provider: string): boolean => {
  const { accepts, systemFirst } = vendorOf(provider)
  return accepts === 'everything' || systemFirst
}

export const vendorRules = (provider: string): readonly RoleRule[] => (vendorOf(provider).systemFirst ? ['system-first'] : [])

/** The rules that a refusal teaches; none for a refusal of anything else. */
export const rulesReportedBy = ({ message }: GatewayError): readonly RoleRule[] =>
  SENTENCES.find(([sentence]) => sentence.test(message))?.[1] ?? []

const SENTENCES: readonly (readonly [RegExp, readonly RoleRule[]])[] = [
  // Templates of Mistral and Gemma: "Conversation roles must alternate user/assistant/…", "After the optional system message, conversation roles must alternate …"
  [/roles must alternate/i, ['system-first', 'alternating']],
  // Qwen: "System message must be at the beginning." Others: "Only system message at the beginning …", "Only one system message is allowed".
  [/system (?:message|prompt|role)s? (?:must|should|can|may|is|are)\b[^.]{0,40}\b(?:beginning|start|first)\b/i, ['system-first']],
  [
    /only (?:one |a single |the first )?system (?:message|prompt|role)\b[^.]{0,40}\b(?:beginning|start|first|allowed|supported)\b/i,
    ['system-first'],
  ],
  [/(?:multiple|more than one|several) system (?:message|prompt)s?\b/i, ['system-first']],
  // Ministral: "Only user, assistant and tool roles are supported, got system." Pydantic, for the Messages dialect.
  [/roles are supported, got system\b|input should be 'user' or 'assistant'/i, ['system-first']],
  // Serde: "unknown variant `developer`, expected one of …". Pydantic: "Input should be 'system', …". Qwen: "Unexpected message role."
  [/unknown variant\W{0,3}developer\b|input should be '(?:system|user)'|unexpected (?:message )?role|got developer\b/i, ['no-developer']],
  [/\brole\b[^.]{0,40}\bdeveloper\b|\bdeveloper\b[^.]{0,20}(?:\brole\b|not (?:one of|supported|allowed|valid))/i, ['no-developer']],
]
