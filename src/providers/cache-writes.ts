/** Tokens that were written to a cache, by how long they are kept there, as dialects of OpenAI count them. */
import { isObject } from '../lib/json/json.ts'
import { partsOf } from './token-count.ts'

type Json = Readonly<Record<string, unknown>>

interface CacheWrites {
  readonly minutes: number
  readonly hours: number
  /** The tokens among the minutes of which nobody told how long they are kept. */
  readonly unsplit: number
  /** The reported split cannot be right. */
  readonly estimated: boolean
}

/**
 * `details`: those of the tokens of the input. `usage`: the counts around them. OpenAI splits what it wrote in Responses alone; LiteLLM and other
 * proxies pass on Anthropic's split in a member of the details, or beside them.
 */
export const cacheWrites = (written: number, details: Json, usage: Json): CacheWrites => {
  const split = [details['cache_write_tokens_details'], details['cache_creation_token_details'], usage['cache_creation']].find(isObject)
  const kept = partsOf(written, [split?.['ttl_12h_tokens'] ?? split?.['ephemeral_1h_input_tokens']])
  // An impossible split counts for the longer lifetime, which is more expensive.
  const [hours = 0] = kept ?? [written]
  return { minutes: written - hours, hours, unsplit: split === undefined ? written : 0, estimated: kept === null }
}
