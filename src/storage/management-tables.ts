/** Members, customers' own provider keys, the audit log and the figures behind `GET /activity`. Made by 0006. */
import type { DestinationType } from '../contract/destination.ts'

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

/** Made by 0013. */
export interface DestinationsTable {
  id: string
  workspace_id: string
  type: DestinationType
  name: string | null
  enabled: Flag
  settings: JsonText
  /** Sealed; '' once it is deleted. */
  sealed_config: string
  created_at: string
  updated_at: string
  /** The row stays for history. */
  deleted_at: string | null
}

export interface WorkspaceMembersTable {
  id: string
  workspace_id: string
  user_id: string
  role: 'admin' | 'member'
  created_at: string
  /** The name that people have for the person here. */
  name: string | null
  email: string | null
}

export interface ByokKeysTable {
  id: string
  /** Null: for every workspace. */
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
  /** Lists of text; null: no restriction. */
  allowed_models: JsonText | null
  allowed_user_ids: JsonText | null
  allowed_api_key_hashes: JsonText | null
  /** Grows with every new secret; part of what the secret is sealed for. */
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
  /** Set where a person who is signed in made the change. 0011 made it. */
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
  /** '' where no provider was reached. */
  provider: string
  requests: number
  tokens_prompt: number
  tokens_completion: number
  tokens_reasoning: number
  cost_nanos: Nanos
  byok_cost_nanos: Nanos
}
