/**
 * The tables as Kysely sees them; migrations/ makes them. Ids, timestamps and days are made by the callers and inserted
 * as they are (docs/contract/operating.md#stored-values): a timestamp is ISO 8601 in UTC with milliseconds
 * (lib/clock.ts), so it sorts as text.
 */
import type { Generated } from 'kysely'

import type { ProviderFailureMode } from '../contract/provider-failure.ts'
import type { PresetShape, PresetResource } from '../contract/preset.ts'
import type { EvaluationState } from '../contract/evaluation.ts'
import type { RolloutState, Sticky } from '../contract/rollout.ts'
import type { FileTables } from './file-tables.ts'
import type { GuardrailAssignmentsTable, GuardrailsTable } from './guardrail-tables.ts'
import type { LedgerTables } from './ledger-tables.ts'
import type { ManagementTables } from './management-tables.ts'
import type { SignInTables } from './sign-in-tables.ts'
import type { UsageHoursTable } from './usage-tables.ts'

/** 0 or 1 on both engines. */
type Flag = number
/** Nano-dollars: a safe integer, or reading it throws (sql-values.ts). */
type Nanos = number
/** JSON as text: the database never looks inside. */
type JsonText = string

export interface Schema extends FileTables, LedgerTables, ManagementTables, SignInTables {
  workspaces: WorkspacesTable
  users: UsersTable
  api_keys: ApiKeysTable
  presets: PresetsTable
  preset_versions: PresetVersionsTable
  preset_moves: PresetMovesTable
  preset_tests: PresetTestsTable
  preset_rollouts: PresetRolloutsTable
  evaluations: EvaluationsTable
  evaluation_items: EvaluationItemsTable
  idempotency_keys: IdempotencyKeysTable
  generations: GenerationsTable
  key_usage_days: KeyUsageDaysTable
  change_counter: ChangeCounterTable
  service_facts: ServiceFactsTable
  usage_hours: UsageHoursTable
  generation_contents: GenerationContentsTable
  traces_waiting: TracesWaitingTable
  trace_senders: TraceSendersTable
  endpoint_slots: EndpointSlotsTable
  endpoint_last: EndpointLastTable
  guardrails: GuardrailsTable
  guardrail_assignments: GuardrailAssignmentsTable
  catalogue_imports: CatalogueImportsTable
}

interface CatalogueImportsTable {
  kind: string
  /** A day, `2026-11-22`. */
  as_of: string
  imported_at: string
  models: JsonText
}

export interface WorkspacesTable {
  id: string
  slug: string
  name: string
  description: string | null
  created_at: string
  created_by: string
  updated_at: string
  settings: JsonText
  /** The row stays for what refers to it; its slug is given up. */
  deleted_at: string | null
}

interface UsersTable {
  id: string
  name: string
  email: string | null
  created_at: string
}

export interface ApiKeysTable {
  /** The id: 64 hex digits, the HMAC of the key when it was made (docs/contract/keys-and-workspaces.md#stored-keys). The key itself is never stored. */
  hash: string
  /** The HMAC by which the key is found, under the pepper of `pepper_id` ('': the first that this database had). */
  digest: string
  pepper_id: string
  kind: 'management' | 'inference'
  name: string
  label: string
  workspace_id: string
  creator_user_id: string
  disabled: Flag
  limit_nanos: Nanos | null
  limit_reset: 'daily' | 'weekly' | 'monthly' | null
  include_byok_in_limit: Flag
  strict: Flag
  /** Requests and tokens a minute. Null: the default of the file. */
  rpm_limit: number | null
  tpm_limit: number | null
  /** Null: as the server says. */
  provider_failure: ProviderFailureMode | null
  external_user: string | null
  purpose: 'playground' | 'application' | null
  /** A list of texts; null: no restriction. */
  allowed_models: JsonText | null
  /** The secret before the last rotation, and until when it is a key too. */
  retired_digest: string | null
  retired_until: string | null
  expires_at: string | null
  created_at: string
  updated_at: string | null
  /** Set by a revocation. The row stays for history; the key is dead for ever. */
  deleted_at: string | null
}

export interface PresetsTable {
  id: string
  workspace_id: string
  slug: string
  name: string
  description: string | null
  status: PresetResource['status']
  status_updated_at: string | null
  creator_user_id: string
  /** The counter that numbers the versions: bumped under the lock of this row (docs/contract/presets.md#versions). */
  last_version: number
  designated_version_id: string
  labels: JsonText
  created_at: string
  updated_at: string
  require_evaluation: Generated<Flag>
}

export interface PresetVersionsTable {
  id: string
  preset_id: string
  version: number
  shape: PresetShape
  config: JsonText
  /** A JSON string or null. As plain text PostgreSQL would refuse U+0000, and both engines would change lone surrogates. */
  system_prompt: JsonText | null
  creator_id: string
  created_at: string
  updated_at: string
  note: string | null
  /** Saved without being designated. */
  saved_as_draft: Generated<Flag>
}

/** Each time that another version was served, or a label was set, moved or removed. */
export interface PresetMovesTable {
  preset_id: string
  /** Numbers the moves of a preset, under the lock of its row. */
  position: number
  /** Null: what the preset itself serves. */
  label: string | null
  /** Null where there was none. */
  from_version: number | null
  to_version: number | null
  moved_at: string
  user_id: string | null
  key_hash: string | null
}

/** Traces on their way to a destination. */
export interface TracesWaitingTable {
  id: string
  destination_id: string
  /** JSON: what is sent, and where it is put. */
  sealed: string
  created_at: string
  /** The process that sends it. */
  held_by: string
  /** Read by processes of an earlier version alone. */
  held_until: string
}

/** Processes that send traces, and until when each holds its own. */
interface TraceSendersTable {
  id: string
  held_until: string
}

export interface EvaluationsTable {
  id: string
  workspace_id: string
  preset_id: string
  preset_slug: string
  state: EvaluationState
  key_hash: string
  /** JSON: what is run, and by which rules. */
  sealed_spec: string
  /** Null in an evaluation of an older version of the service. */
  version: number | null
  items_total: number
  cost_nanos: Nanos
  passed: Flag | null
  reason: string | null
  /** The process that runs it, and until when nobody else does. */
  held_by: string | null
  held_until: string | null
  created_at: string
  ended_at: string | null
}

interface EvaluationItemsTable {
  evaluation_id: string
  position: number
  sealed_item: string
  /** JSON: the answers that were paid for, and the result once there is one. */
  sealed_result: string | null
}

export interface PresetRolloutsTable {
  preset_id: string
  id: string
  state: RolloutState
  live_version: number
  splits: JsonText
  segments: JsonText
  sticky: Sticky
  /** Null: it never halts by itself. */
  halt: JsonText | null
  looks: JsonText
  started_at: string
  updated_at: string
  ended_at: string | null
  reason: string | null
}

interface PresetTestsTable {
  id: string
  preset_id: string
  name: string
  /** JSON: messages, tools, and what is expected. */
  sealed_input: string
  creator_id: string
  created_at: string
}

interface IdempotencyKeysTable {
  workspace_id: string
  route: string
  slug: string
  key: string
  body_sha256: string
  status: number
  body: string
  created_at: string
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
  /** The status that the client was told; null where it left before. */
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

interface KeyUsageDaysTable {
  key_hash: string
  /** `YYYY-MM-DD`, UTC. */
  day: string
  cost_nanos: Nanos
  byok_cost_nanos: Nanos
  requests: number
  tokens: number
}

interface ChangeCounterTable {
  /** Always 1: the table has one row. */
  id: number
  value: number
}

interface ServiceFactsTable {
  name: string
  value: string
}
