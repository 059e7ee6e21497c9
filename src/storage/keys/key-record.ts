/** A key's record, its row in the database, and its view in the audit log. */
import type { Selectable, Updateable } from 'kysely'
import { z } from 'zod'

import type { ProviderFailureMode } from '../../contract/provider-failure.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { dollars } from '../../lib/money.ts'
import { readStoredJson } from '../rows/damaged-row.ts'
import { flag } from '../statements/sql-values.ts'
import type { ApiKeysTable } from '../tables/key-tables.ts'

/** An API key as stored: without the key itself. A revoked key is never returned. */
export interface KeyRecord {
  /** 64 hex digits: the key's id. */
  readonly hash: string
  /** The HMAC by which the key is looked up, made with the pepper of `pepperId`. */
  readonly digest: string
  readonly pepperId: string
  readonly kind: 'management' | 'inference'
  readonly name: string
  readonly label: string
  readonly workspaceId: string
  readonly creatorUserId: string
  readonly disabled: boolean
  readonly limitNanos: number | null
  readonly limitReset: 'daily' | 'weekly' | 'monthly' | null
  readonly includeByokInLimit: boolean
  /** Requests with this key are refused if they ask for something that cannot be honoured. */
  readonly strict: boolean
  /** Requests and tokens per minute; null means the default of the configuration file. */
  readonly rpmLimit: number | null
  readonly tpmLimit: number | null
  /** How a provider's failure reaches the client; null means the server's default. */
  readonly providerFailure: ProviderFailureMode | null
  /** Who uses the key, as its creator wrote it. */
  readonly externalUser: string | null
  /**
   * `playground`: made for a person's playground; `application`: made for an application that the person
   * allowed; null: made by somebody who manages keys.
   */
  readonly purpose: 'playground' | 'application' | null
  /** Models that the key may call; null means any. */
  readonly allowedModels: readonly string[] | null
  /** The secret before the last rotation, which is still valid until then. */
  readonly retired: { readonly digest: string; readonly until: string } | null
  readonly expiresAt: string | null
  readonly createdAt: string
  readonly updatedAt: string | null
  /** When the record was read, accurate to some seconds; null means never. */
  readonly lastUsedAt: string | null
}

/** An absent field is left alone; null clears it. */
export type KeyPatch = Partial<
  Pick<
    KeyRecord,
    | 'name'
    | 'disabled'
    | 'limitNanos'
    | 'limitReset'
    | 'includeByokInLimit'
    | 'strict'
    | 'rpmLimit'
    | 'tpmLimit'
    | 'providerFailure'
    | 'expiresAt'
  >
>

export const toKey = (row: Selectable<ApiKeysTable>): KeyRecord => ({
  hash: row.hash,
  digest: row.digest,
  pepperId: row.pepper_id,
  kind: row.kind,
  name: row.name,
  label: row.label,
  workspaceId: row.workspace_id,
  creatorUserId: row.creator_user_id,
  disabled: row.disabled === 1,
  limitNanos: row.limit_nanos,
  limitReset: row.limit_reset,
  includeByokInLimit: row.include_byok_in_limit === 1,
  strict: row.strict === 1,
  rpmLimit: row.rpm_limit,
  tpmLimit: row.tpm_limit,
  providerFailure: row.provider_failure,
  externalUser: row.external_user,
  purpose: row.purpose,
  allowedModels: readModels(row.hash, row.allowed_models),
  retired: row.retired_digest === null || row.retired_until === null ? null : { digest: row.retired_digest, until: row.retired_until },
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  lastUsedAt: row.last_used_at === '' ? null : row.last_used_at,
})

export const newRow = (key: KeyRecord): Selectable<ApiKeysTable> => ({
  hash: key.hash,
  digest: key.digest,
  pepper_id: key.pepperId,
  kind: key.kind,
  name: key.name,
  label: key.label,
  workspace_id: key.workspaceId,
  creator_user_id: key.creatorUserId,
  disabled: flag(key.disabled),
  limit_nanos: key.limitNanos,
  limit_reset: key.limitReset,
  include_byok_in_limit: flag(key.includeByokInLimit),
  strict: flag(key.strict),
  rpm_limit: key.rpmLimit,
  tpm_limit: key.tpmLimit,
  provider_failure: key.providerFailure,
  external_user: key.externalUser,
  purpose: key.purpose,
  allowed_models: key.allowedModels === null ? null : JSON.stringify(key.allowedModels),
  retired_digest: null,
  retired_until: null,
  expires_at: key.expiresAt,
  created_at: key.createdAt,
  updated_at: key.updatedAt,
  last_used_at: key.lastUsedAt ?? '',
  deleted_at: null,
})

export const changedColumns = (patch: KeyPatch): Updateable<ApiKeysTable> => ({
  ...(patch.name !== undefined && { name: patch.name }),
  ...(patch.disabled !== undefined && { disabled: flag(patch.disabled) }),
  ...(patch.limitNanos !== undefined && { limit_nanos: patch.limitNanos }),
  ...(patch.limitReset !== undefined && { limit_reset: patch.limitReset }),
  ...(patch.includeByokInLimit !== undefined && { include_byok_in_limit: flag(patch.includeByokInLimit) }),
  ...(patch.strict !== undefined && { strict: flag(patch.strict) }),
  ...(patch.rpmLimit !== undefined && { rpm_limit: patch.rpmLimit }),
  ...(patch.tpmLimit !== undefined && { tpm_limit: patch.tpmLimit }),
  ...(patch.providerFailure !== undefined && { provider_failure: patch.providerFailure }),
  ...(patch.expiresAt !== undefined && { expires_at: patch.expiresAt }),
})

/** The members of a key that the audit log shows. */
export const auditView = (key: KeyRecord): JsonObject => ({
  kind: key.kind,
  name: key.name,
  label: key.label,
  creator_user_id: key.creatorUserId,
  disabled: key.disabled,
  limit: key.limitNanos === null ? null : dollars(key.limitNanos),
  limit_reset: key.limitReset,
  include_byok_in_limit: key.includeByokInLimit,
  strict: key.strict,
  rpm_limit: key.rpmLimit,
  tpm_limit: key.tpmLimit,
  provider_failure: key.providerFailure,
  external_user: key.externalUser,
  purpose: key.purpose,
  allowed_models: key.allowedModels,
  expires_at: key.expiresAt,
})

/** Parses the stored form. */
export const readModels = (keyHash: string, text: string | null): readonly string[] | null =>
  text === null ? null : readStoredJson('api_keys', keyHash, modelList, text)

const modelList = z.array(z.string())
