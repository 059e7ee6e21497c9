/** Records of requests, their contents, and what their attempts showed about each endpoint. */
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
  /** All other fields of the record. */
  record: JsonText
  /** The creator of the key. Null in rows that a process of an older version wrote, as are all columns that follow. */
  user_id: string | null
  interface: string | null
  /** Null if nothing failed, or the client left. */
  error_type: string | null
  session_id: string | null
  request_id: string | null
  /** Null in records of older versions. */
  ended_at: string | null
  /** The status that the client got; null if it left before. */
  http_status: number | null
  /** Time to the first content; null if there was none. */
  first_token_ms: number | null
  total_ms: number | null
  /** Parts of the prompt's and the completion's tokens. */
  tokens_cache_read: number | null
  tokens_cache_write: number | null
  tokens_reasoning: number | null
  estimated: Flag | null
  unpriced: Flag | null
  /** Null if no rollout chose the preset's version. */
  rollout_id: string | null
  /** How often guardrails found something. */
  guardrail_hits: number | null
}

/** The question and the answer, if they are kept. */
export interface GenerationContentsTable {
  /** The id of the generation. */
  id: string
  workspace_id: string
  created_at: string
  expires_at: string
  /** JSON, sealed. */
  sealed: string
}

/** How attempts ended in a half hour. */
export interface EndpointSlotsTable {
  /** `YYYY-MM-DDTHH:MM`, UTC. */
  slot: string
  /** The model's id and the tag, with a space between them. */
  endpoint: string
  ok: number
  failed: number
}

/** '' means never. */
export interface EndpointLastTable {
  endpoint: string
  ok_at: string
  error_at: string
  error_type: string
  error_status: number | null
  error_message: string
}
