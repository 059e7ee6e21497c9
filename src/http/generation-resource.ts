/** A stored generation in the form of the API. */
import { ABSENT_MEMBERS } from '../contract/generation.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json/json.ts'
import type { StoredGeneration } from '../storage/generations/generation-store.ts'

export const generationResource = ({ record, keyHash, keyName, userId }: StoredGeneration): JsonObject => ({
  ...ABSENT_MEMBERS,
  ...record,
  provider_responses: withIds(record['provider_responses'] ?? null),
  api_key_hash: keyHash,
  api_key_name: keyName,
  user_id: userId,
})

/** Earlier versions recorded an attempt's id as `upstream_id`. */
const withIds = (attempts: JsonValue): JsonValue =>
  Array.isArray(attempts)
    ? attempts.map((attempt: JsonValue) => {
        if (!isObject(attempt) || !('upstream_id' in attempt)) return attempt
        const { upstream_id: id, ...others } = attempt
        return id === null || id === undefined ? others : { id, ...others }
      })
    : attempts
