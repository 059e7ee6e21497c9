/** A stored generation on the wire. */
import { ABSENT_MEMBERS } from '../contract/generation.ts'
import type { JsonObject } from '../lib/json.ts'
import type { StoredGeneration } from '../storage/generation-store.ts'

export const generationResource = ({ record, keyHash, keyName, userId }: StoredGeneration): JsonObject => ({
  ...ABSENT_MEMBERS,
  ...record,
  api_key_hash: keyHash,
  api_key_name: keyName,
  user_id: userId,
})
