/** The headers of an answer. Call it only when the answer begins: by then it is known what the translation loses. */
import type { Admitted } from '../../inference/admitted.ts'
import { presetName } from '../../presets/model-reference.ts'
import type { CacheUse } from '../../inference/cache/cache-use.ts'

export const answerHeaders = ({ generationId, request: { preset }, warnings, cache }: Admitted): Record<string, string> => {
  const headers: Record<string, string> = { 'x-generation-id': generationId, ...presetHeader(preset) }
  if (warnings.length > 0) headers['x-service-warnings'] = String(warnings.length)
  return cache === null ? headers : { ...headers, ...cacheHeaders(cache) }
}

export const presetHeader = (preset: Parameters<typeof presetName>[0] | null): Record<string, string> =>
  preset === null ? {} : { 'x-preset': presetName(preset) }

/** The response cache's result, under both names (docs/contract/response-cache.md#headers). */
const cacheHeaders = (cache: CacheUse): Record<string, string> => {
  const reported = {
    status: cache.outcome.toUpperCase(),
    ttl: String(cache.ttlSeconds),
    ...(cache.outcome === 'hit' ? { age: String(cache.ageSeconds), 'source-id': cache.answer.sourceId } : {}),
  }
  return Object.fromEntries(
    Object.entries(reported).flatMap(([name, value]) => CACHE_PREFIXES.map((prefix) => [`${prefix}${name}`, value] as const)),
  )
}

const CACHE_PREFIXES = ['x-service-cache-', 'x-openrouter-cache-']
