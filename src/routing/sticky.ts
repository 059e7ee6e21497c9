/**
 * Remembers which endpoint answered a conversation last: a provider that has the prompt in its cache reads it at a lower price
 * (docs/contract/routing.md#sticky-routing).
 */
import type { Call } from '../canonical/call.ts'
import type { Usage } from '../canonical/usage.ts'
import type { Clock } from '../lib/clock.ts'
import { conversationMark } from './conversation-mark.ts'
import type { EndpointKey } from './health.ts'
import type { ModelEndpoint } from '../models/model.ts'

export interface Sticky {
  find(key: string): EndpointKey | null
  /** Call it only after a success. */
  remember(key: string, endpoint: EndpointKey): void
}

const REMEMBERED_MS = 10 * 60 * 1000
const CONVERSATIONS_MAX = 20_000

export const createSticky = ({ clock }: { clock: Pick<Clock, 'monotonicMs'> }): Sticky => {
  /** Ordered by last use, the oldest first. */
  const conversations = new Map<string, { readonly endpoint: EndpointKey; readonly untilMs: number }>()
  return {
    find(key) {
      const remembered = conversations.get(key)
      return remembered === undefined || remembered.untilMs <= clock.monotonicMs() ? null : remembered.endpoint
    },
    remember(key, endpoint) {
      conversations.delete(key)
      conversations.set(key, { endpoint, untilMs: clock.monotonicMs() + REMEMBERED_MS })
      if (conversations.size <= CONVERSATIONS_MAX) return
      const [oldest] = conversations.keys()
      if (oldest !== undefined) conversations.delete(oldest)
    },
  }
}

const SESSION = 'session'

/**
 * The key of a conversation: the session that it names, else its cache key, else a digest of how it begins; separate for each model, since
 * caches are too. `account` keeps workspaces apart.
 */
export const conversationKey = (call: Call, account: string): string | null => {
  const model = (call.models[0] ?? '').slice(0, KEY_LENGTH_MAX)
  if (call.sessionId !== null) return `${account} ${SESSION} ${model} ${call.sessionId}`
  const cacheKey = call.body.value('prompt_cache_key')
  if (typeof cacheKey === 'string' && cacheKey !== '') return `${account} cache ${model} ${cacheKey.slice(0, KEY_LENGTH_MAX)}`
  const mark = conversationMark(call)
  return mark === null ? null : `${account} begins ${model} ${mark}`
}

const KEY_LENGTH_MAX = 256

/**
 * True if a success begins to bind its conversation. A named session always does; a conversation that is only recognised does so if a cache
 * was used and reading it is cheaper, since otherwise nothing is gained.
 */
export const bindsConversation = (key: string, { prices }: ModelEndpoint, usage: Usage): boolean => {
  if (key.split(' ', 2)[1] === SESSION) return true
  const used = usage.inputCacheRead + usage.inputCacheWrite5m + usage.inputCacheWrite1h > 0
  return used && prices?.cache_read !== undefined && prices.cache_read < prices.prompt
}
