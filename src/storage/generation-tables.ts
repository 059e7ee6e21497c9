/** Records of requests, their contents, and what their attempts showed of each endpoint. */
import type { Flag, JsonText, Nanos } from './column-types.ts'

export interface GenerationTables {
  generations: GenerationsTable
  generation_contents: GenerationContentsTable
  endpoint_slots: EndpointSlotsTable
  endpoint_last: EndpointLastTable
}

export interface GenerationsTable {
  id: string
  created_at: string
  workspace_id: string
  key_hash: string
  preset_id: string | null
  preset_version: number | null
  model: string
  provider: string | null
  streamed: Flag
  cancelled: Flag
  tokens_prompt: number
  tokens_completion: number
  cost_nanos: Nanos
  byok_cost_nanos: Nanos
  /** All the rest of the record. */
  record: JsonText
  /** Null, as all that follows, in rows that a process of an older version wrote. Who made the key. */
  user_id: string | null
  interface: string | null
  /** Null where nothing failed, or the client left. */
  error_type: string | null
  session_id: string | null
  request_id: string | null
  /** Null in records of before. */
  ended_at: string | null
  /** The status that the client got; null where it left before. */
  http_status: number | null
  /** To the first content; null where none came. */
  first_token_ms: number | null
  total_ms: number | null
  /** Parts of the prompt and of the completion. */
  tokens_cache_read: number | null
  tokens_cache_write: number | null
  tokens_reasoning: number | null
  estimated: Flag | null
  unpriced: Flag | null
  /** Null where no rollout chose the version of the preset. */
  rollout_id: string | null
  /** How often guardrails found something. */
  guardrail_hits: number | null
}

/** The question and the answer, where they are kept. */
export interface GenerationContentsTable {
  /** The generation's. */
  id: string
  workspace_id: string
  created_at: string
  expires_at: string
  /** JSON, sealed. */
  sealed: string
}

/** How attempts ended in half an hour. */
export interface EndpointSlotsTable {
  /** `YYYY-MM-DDTHH:MM`, UTC. */
  slot: string
  /** The id of the model and the tag, with a space between them. */
  endpoint: string
  ok: number
  failed: number
}

/** '' stands for never. */
export interface EndpointLastTable {
  endpoint: string
  ok_at: string
  error_at: string
  error_type: string
  error_status: number | null
  error_message: string
}
