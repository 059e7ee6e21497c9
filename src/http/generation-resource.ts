/** A stored generation on the wire. */
import type { JsonObject } from '../lib/json.ts'
import type { StoredGeneration } from '../storage/generation-store.ts'

/** Records of older versions lack what is listed here. */
export const generationResource = ({ record, keyHash, keyName, userId }: StoredGeneration): JsonObject => ({
  interface: null,
  http_status: null,
  error: null,
  native_tokens_cache_write: null,
  removed: [],
  warnings: [],
  pipeline: [],
  settings: null,
  settings_left_out: [],
  trace: null,
  ...record,
  api_key_hash: keyHash,
  api_key_name: keyName,
  user_id: userId,
})
