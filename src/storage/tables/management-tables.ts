/** Members, customers' own provider keys, the audit log and the figures for `GET /activity`. Created by 0006. */
import type { DestinationType } from '../../contract/destination.ts'

type Flag = number
type Nanos = number
type JsonText = string

export interface ManagementTables {
  workspace_members: WorkspaceMembersTable
  byok_keys: ByokKeysTable
  audit_log: AuditLogTable
  activity_days: ActivityDaysTable
  observability_destinations: DestinationsTable
}

/** Created by 0013. */
export interface DestinationsTable {
  id: string
  workspace_id: string
  type: DestinationType
  name: string | null
  enabled: Flag
  settings: JsonText
  /** Sealed; '' once the destination is deleted. */
  sealed_config: string
  created_at: string
  updated_at: string
  /** Set when it is deleted; the row stays for history. */
  deleted_at: string | null
}

export interface WorkspaceMembersTable {
  id: string
  workspace_id: string
  user_id: string
  role: 'admin' | 'member'
  created_at: string
  /** The name that people here use for the person. */
  name: string | null
  email: string | null
}

export interface ByokKeysTable {
  id: string
  /** Null means all workspaces. */
  workspace_id: string | null
  provider: string
  name: string | null
  label: string
  disabled: Flag
  is_fallback: Flag
  is_required: Flag
  is_byok_only: Flag
  declared_zdr: Flag | null
  sort_order: number
  /** Lists of text; null means no restriction. */
  allowed_models: JsonText | null
  allowed_user_ids: JsonText | null
  allowed_api_key_hashes: JsonText | null
  /** Incremented with every new secret; part of the context under which the secret is sealed. */
  version: number
  /** byok/envelope.ts: base64. */
  sealed_secret: string
  wrapped_data_key: string
  kek_id: string
  created_at: string
  updated_at: string
}

export interface AuditLogTable {
  /** The id of the request, the command or the start that made the change. */
  id: string
  created_at: string
  workspace_id: string
  user_id: string | null
  key_hash: string | null
  /** Set if a signed-in person made the change. Added by 0011. */
  session_id: string | null
  action: string
  object_type: string
  object_id: string
  before: JsonText | null
  after: JsonText | null
}

/** One row for each day, key, model and provider. */
export interface ActivityDaysTable {
  /** `YYYY-MM-DD`, UTC. */
  day: string
  workspace_id: string
  key_hash: string
  model: string
  /** '' if no provider was reached. */
  provider: string
  requests: number
  tokens_prompt: number
  tokens_completion: number
  tokens_reasoning: number
  tokens_cached: number
  cost_nanos: Nanos
  byok_cost_nanos: Nanos
}
