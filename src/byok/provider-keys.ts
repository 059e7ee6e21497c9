/**
 * Manages customers' own provider keys for management keys (docs/contract/keys-and-workspaces.md#customer-keys). Secrets are accepted but
 * never returned.
 */
import { isDeepStrictEqual } from 'node:util'

import type { z } from 'zod'

import { scopeOf, type Reach } from '../canonical/reach.ts'
import type { ByokKeyResource, ByokUse, createByokBody, updateByokBody } from '../contract/byok.ts'
import { EXCLUSIVE, exclusive } from '../contract/exclusive-use.ts'
import type { Slice } from '../contract/paging.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { definedOnly } from '../lib/defined-only.ts'
import type { IdSource } from '../lib/id.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import type { ByokRecord, ByokStore } from '../storage/keys/byok-store.ts'
import { mapOnce, type Once } from '../storage/changes/idempotency.ts'
import type { KeyStore } from '../storage/keys/key-store.ts'
import { seal, type SealContext, type SealingKey } from './envelope.ts'
import type { Page } from '../storage/statements/page.ts'

export interface ProviderKeys {
  list(reach: Reach, filter: { provider?: string | undefined } & Slice): Promise<Page<ByokRecord>>
  /** Throws `not_found`, as `update` and `delete` do. */
  get(reach: Reach, id: string): Promise<ByokRecord>
  /** Throws `invalid_request` for a provider that is not enabled here, and for API keys of other workspaces. */
  create(workspaceId: string, body: z.output<typeof createByokBody>, by: ChangedBy, once?: Once<ByokRecord>): Promise<ByokRecord>
  update(reach: Reach, id: string, body: z.output<typeof updateByokBody>, by: ChangedBy): Promise<ByokRecord>
  delete(reach: Reach, id: string, by: ChangedBy): Promise<void>
}

export interface ProviderKeysParts {
  readonly store: ByokStore
  readonly keyStore: Pick<KeyStore, 'hasAll'>
  readonly clock: Clock
  readonly ids: IdSource
  /** Returns the key under which secrets are sealed now. */
  readonly sealingKey: () => SealingKey
  /** The address of a provider as `scheme://host:port`; null for one that is not enabled. */
  readonly originOf: (provider: string) => string | null
  /** Called with the workspace whose keys have changed; null if those of all have. */
  readonly changed: (workspaceId: string | null) => void
}

export const createProviderKeys = ({ store, keyStore, clock, ids, sealingKey, originOf, changed }: ProviderKeysParts): ProviderKeys => {
  const now = (): string => isoTimestamp(clock.now())
  const find = async (reach: Reach, id: string): Promise<ByokRecord> => {
    const found = await store.get(id)
    if (found === null) throw unknownKey()
    const scope = scopeOf(reach)
    // A key for every workspace belongs to the operator, whichever workspace it is looking at.
    const isReached = found.workspaceId === null ? reach.isOperator : scope === null || found.workspaceId === scope
    if (!isReached) throw unknownKey()
    return found
  }
  const check = async (workspaceId: string | null, { allowed_api_key_hashes: hashes, ...use }: ByokUse): Promise<void> => {
    if (!exclusive(use)) throw new GatewayError('invalid_request', EXCLUSIVE.error)
    if (hashes !== null && !(await keyStore.hasAll(workspaceId, hashes))) {
      throw new GatewayError(
        'invalid_request',
        'allowed_api_key_hashes: not all of them are keys of this workspace. GET /api/v1/keys lists its keys.',
      )
    }
  }
  const sealFor = (secret: string, record: Pick<ByokRecord, 'id' | 'workspaceId' | 'provider' | 'version'>) =>
    seal(secret, sealContext(record, originOf), sealingKey(), ids)

  return {
    list: ({ workspaceId, isOperator }, filter) => store.list({ workspaceId, everywhere: isOperator, ...filter }),
    get: find,
    async create(own, { provider, key, workspace_id, declared_region: _none, ...given }, by, once) {
      if (originOf(provider) === null) {
        throw new GatewayError(
          'invalid_request',
          `provider: "${provider}" is not enabled here. The operator enables it in the configuration file.`,
        )
      }
      const workspaceId = workspace_id === null ? null : own
      const use: ByokUse = { ...DEFAULT_USE, sort_order: await store.nextSortOrder(workspaceId, provider), ...definedOnly(given) }
      await check(workspaceId, use)
      const base = { id: ids.uuid(), workspaceId, provider, version: 1 }
      const record = { ...base, label: maskedLabel(key), use, ...sealFor(key, base), createdAt: now(), updatedAt: now() }
      await store.insert(
        record,
        own,
        by,
        mapOnce(once, () => record),
      )
      changed(workspaceId)
      return record
    },
    async update(reach, id, { key, declared_region: _none, ...given }, by) {
      const before = await find(reach, id)
      const use: ByokUse = { ...before.use, ...definedOnly(given) }
      await check(before.workspaceId, use)
      if (key === undefined && isDeepStrictEqual(use, before.use)) return before
      const version = before.version + 1
      const secret = key === undefined ? {} : { version, label: maskedLabel(key), ...sealFor(key, { ...before, version }) }
      const record: ByokRecord = { ...before, use, ...secret, updatedAt: now() }
      const replaced = await store.replace(record, before, before.workspaceId ?? reach.workspaceId, by)
      changed(before.workspaceId)
      if (replaced) return record
      throw new GatewayError('precondition_failed', 'The key was changed at the same time. Read it and try again.', { status: 409 })
    },
    async delete(reach, id, by) {
      const deleted = await store.delete(reach, id, { by, now: now() })
      if (deleted === null) throw unknownKey()
      changed(deleted.workspaceId)
    },
  }
}

/**
 * The provider's address is part of the context: if it changes, the secret must be entered again
 * (docs/contract/keys-and-workspaces.md#sealing).
 */
export const sealContext = (
  { id, workspaceId, provider, version }: Pick<ByokRecord, 'id' | 'workspaceId' | 'provider' | 'version'>,
  originOf: ProviderKeysParts['originOf'],
): SealContext => ({ credentialId: id, workspaceId, provider, version, origin: originOf(provider) ?? '' })

const DEFAULT_USE: ByokUse = {
  name: null,
  disabled: false,
  is_fallback: false,
  is_required: false,
  is_byok_only: false,
  declared_zdr: null,
  sort_order: 0,
  allowed_models: null,
  allowed_user_ids: null,
  allowed_api_key_hashes: null,
}

/** Only a little of a short key is shown, because more would give too much of it away. */
const maskedLabel = (key: string): string => (key.length < 20 ? `…${key.slice(-2)}` : `${key.slice(0, 3)}…${key.slice(-4)}`)

export const byokResource = (record: ByokRecord): ByokKeyResource => ({
  id: record.id,
  provider: record.provider,
  label: record.label,
  workspace_id: record.workspaceId,
  ...record.use,
  declared_region: null,
  created_at: record.createdAt,
})

const unknownKey = (): GatewayError => new GatewayError('not_found', 'There is no provider key with this id.')
