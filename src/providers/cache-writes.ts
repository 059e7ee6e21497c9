/** Tokens that OpenAI wrote to its cache, by how long they are kept there; both of its dialects count them alike. */
import { isObject } from '../lib/json/json.ts'
import { partsOf } from './token-count.ts'

interface CacheWrites {
  readonly minutes: number
  readonly hours: number
  /** The reported split cannot be right. */
  readonly estimated: boolean
}

/** The second argument: the details of the tokens of the input. */
export const cacheWrites = (written: number, { cache_write_tokens_details: split }: Readonly<Record<string, unknown>>): CacheWrites => {
  const kept = partsOf(written, [isObject(split) ? split['ttl_12h_tokens'] : undefined])
  // An impossible split counts for the longer lifetime, which is more expensive.
  const [hours = 0] = kept ?? [written]
  return { minutes: written - hours, hours, estimated: kept === null }
}
