/** Decides if a request uses the response cache (docs/contract/response-cache.md#turning-it-on). */
import type { Planned } from '../request.ts'
import { demandsZeroRetention } from '../zero-retention.ts'
import type { PresetCaching } from './preset-caching.ts'

export interface Caching {
  readonly ttlSeconds: number
  /** True if the cached answer must be dropped and not used. */
  readonly clears: boolean
}

/** Null if the request does not use the cache. That is nearly always so, and costs only a look-up of two headers. */
export const cachingOf = ({
  headers: { sent },
  preset,
  guardrails,
}: Pick<Planned, 'headers' | 'preset' | 'guardrails'>): Caching | null => {
  if (sent === null) return null
  const asked = flagOf(sent, ENABLED)
  const { enabled, ttlSeconds } = preset?.caching ?? UNSAID
  if (asked === false || enabled === false || (asked ?? enabled) === null) return null
  // If nothing of a request may be stored, its answer may not be cached either.
  if (demandsZeroRetention(guardrails)) return null
  return { ttlSeconds: ttlOf(sent) ?? ttlSeconds ?? DEFAULT_TTL_SECONDS, clears: flagOf(sent, CLEAR) === true }
}

const UNSAID: PresetCaching = { enabled: null, ttlSeconds: null }

const ENABLED = ['x-service-cache', 'x-openrouter-cache']
const TTL = ['x-service-cache-ttl', 'x-openrouter-cache-ttl']
const CLEAR = ['x-service-cache-clear', 'x-openrouter-cache-clear']

const DEFAULT_TTL_SECONDS = 300
const MAX_TTL_SECONDS = 86_400

type Sent = NonNullable<Planned['headers']['sent']>

/** The value of the first header that says `true` or `false`. */
const flagOf = (sent: Sent, names: readonly string[]): boolean | null => {
  for (const name of names) {
    const value = sent.get(name)
    if (value === null) continue
    const word = value.trim().toLowerCase()
    if (word === 'true' || word === 'false') return word === 'true'
  }
  return null
}

/** Only the leading digits are read, as existing clients expect. */
const ttlOf = (sent: Sent): number | null => {
  for (const name of TTL) {
    const [digits] = /^\d+/.exec(sent.get(name)?.trim() ?? '') ?? []
    if (digits !== undefined) return Math.min(Math.max(Number(digits), 1), MAX_TTL_SECONDS)
  }
  return null
}
