/** API keys, and their usage on each day. */
import type { ProviderFailureMode } from '../../contract/provider-failure.ts'
import type { Flag, JsonText, Nanos } from './column-types.ts'

export interface KeyTables {
  api_keys: ApiKeysTable
  key_usage_days: KeyUsageDaysTable
}

export interface ApiKeysTable {
  /**
   * The id: 64 hex digits, the HMAC of the key when it was made
   * (docs/contract/keys-and-workspaces.md#stored-keys). The key itself is never stored.
   */
  hash: string
  /** The HMAC by which the key is looked up, made with the pepper of `pepper_id` ('' is the first pepper of this database). */
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
  /** Requests and tokens per minute. Null means the default of the configuration file. */
  rpm_limit: number | null
  tpm_limit: number | null
  /** Null means the server's default. */
  provider_failure: ProviderFailureMode | null
  external_user: string | null
  purpose: 'playground' | 'application' | null
  /** A list of texts; null means no restriction. */
  allowed_models: JsonText | null
  /** The secret before the last rotation, and until when it is still valid. */
  retired_digest: string | null
  retired_until: string | null
  expires_at: string | null
  created_at: string
  updated_at: string | null
  /** Accurate to some seconds; '' means never. */
  last_used_at: string
  /** Set by a revocation. The row stays for history; the key is invalid for ever. */
  deleted_at: string | null
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
