/** Manages the destinations of traces for management keys (docs/contract/broadcast.md). Secrets are accepted but never returned. */
import { isDeepStrictEqual } from 'node:util'

import type { z } from 'zod'

import { scopeOf, type Reach } from '../canonical/reach.ts'
import type {
  createDestinationBody,
  DestinationResource,
  DestinationSettings,
  DestinationType,
  updateDestinationBody,
} from '../contract/destination.ts'
import type { Slice } from '../contract/paging.ts'
import { invalidField } from '../contract/validate.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { definedOnly } from '../lib/defined-only.ts'
import type { IdSource } from '../lib/id.ts'
import { createRegex } from '../lib/regex/finder.ts'
import { RegexRefused } from '../lib/regex/parse.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import {
  DESTINATIONS_MAX,
  type DestinationConflict,
  type DestinationRecord,
  type DestinationStore,
} from '../storage/broadcast/destination-store.ts'
import { mapOnce, type Once } from '../storage/changes/idempotency.ts'
import type { KeyStore } from '../storage/keys/key-store.ts'
import type { Page } from '../storage/statements/page.ts'
import type { DeliveryHealth } from './delivery.ts'
import { knownType, mergeConfig, readConfig, shownConfig, type StoredConfig } from './destination-config.ts'

export interface Destinations {
  list(workspaceId: string, slice: Slice): Promise<Page<DestinationResource>>
  /** Throws `not_found`, as `update` and `delete` do. */
  get(reach: Reach, id: string): Promise<DestinationResource>
  /**
   * Throws `invalid_request` for a destination that lacks what its type needs or that does not answer, and `precondition_failed` (409) for
   * a name that is taken.
   */
  create(
    workspaceId: string,
    body: z.output<typeof createDestinationBody>,
    by: ChangedBy,
    options: { readonly skipTest: boolean; readonly once?: Once<DestinationResource> | undefined },
  ): Promise<DestinationResource>
  update(
    reach: Reach,
    id: string,
    body: z.output<typeof updateDestinationBody>,
    by: ChangedBy,
    options: { readonly skipTest: boolean },
  ): Promise<DestinationResource>
  delete(reach: Reach, id: string, by: ChangedBy): Promise<void>
}

export interface DestinationsParts {
  readonly store: DestinationStore
  readonly keyStore: Pick<KeyStore, 'hasAll'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly healthOf: (id: string) => DeliveryHealth | null
  /** Returns why a destination refuses a request without a trace; null if it accepts one. */
  readonly tryOut: (type: DestinationType, config: StoredConfig) => Promise<string | null>
  /** Called when the destinations in force have changed. */
  readonly changed: () => Promise<void>
}

export const createDestinations = ({ store, keyStore, clock, ids, healthOf, tryOut, changed }: DestinationsParts): Destinations => {
  const resource = (record: DestinationRecord): DestinationResource => ({
    id: record.id,
    type: record.type,
    ...record.settings,
    config: shownConfig(record.type, storedConfig(record)),
    workspace_id: record.workspaceId,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    health: healthOf(record.id) ?? NO_HEALTH,
  })
  const find = async (reach: Reach, id: string): Promise<DestinationRecord> => {
    const found = await store.get(scopeOf(reach), id)
    if (found === null) throw unknownDestination()
    return found
  }
  const check = async (workspaceId: string, { api_key_hashes: hashes, filter_rules: rules }: DestinationSettings): Promise<void> => {
    for (const [group, { rules: inGroup }] of (rules?.groups ?? []).entries()) {
      for (const [at, { operator, value }] of inGroup.entries()) {
        if (operator === 'regex') checkPattern(String(value), `filter_rules.groups[${group}].rules[${at}].value`)
      }
    }
    if (hashes !== null && !(await keyStore.hasAll(workspaceId, hashes))) {
      throw new GatewayError(
        'invalid_request',
        'api_key_hashes: not all of them are keys of this workspace. GET /api/v1/keys lists its keys.',
      )
    }
  }
  const test = async (type: DestinationType, config: StoredConfig): Promise<void> => {
    const reason = await tryOut(type, config)
    if (reason !== null) {
      throw new GatewayError('invalid_request', `config: the destination does not take traces: ${reason} Nothing was saved.`)
    }
  }

  return {
    async list(workspaceId, slice) {
      const { items, totalCount } = await store.list(workspaceId, slice)
      return { items: items.map(resource), totalCount }
    },
    get: async (reach, id) => resource(await find(reach, id)),
    async create(workspaceId, body, by, { skipTest, once }) {
      const { type: named, name, config: given, workspace_id: _workspace, ...settings } = body
      const type = knownType(named)
      const config = readConfig(type, given)
      const now = isoTimestamp(clock.now())
      const record: DestinationRecord = {
        id: ids.uuid(),
        workspaceId,
        type,
        config: { ...config },
        settings: { ...DEFAULTS, ...definedOnly(settings), name: name ?? null },
        createdAt: now,
        updatedAt: now,
      }
      await check(workspaceId, record.settings)
      if (!skipTest) await test(type, config)
      const answered = mapOnce<DestinationConflict | null, DestinationResource>(once, () => resource(record))
      refuseConflict(await store.insert(record, shownConfig(type, config), by, answered), record)
      await changed()
      return resource(record)
    },
    async update(reach, id, { config: patch, ...given }, by, { skipTest }) {
      const before = await find(reach, id)
      const config = patch === undefined ? storedConfig(before) : mergeConfig(before.type, storedConfig(before), patch)
      const wanted: DestinationRecord = { ...before, config: { ...config }, settings: { ...before.settings, ...definedOnly(given) } }
      await check(before.workspaceId, wanted.settings)
      if (patch !== undefined && !skipTest) await test(wanted.type, config)
      if (isDeepStrictEqual(wanted, before)) return resource(before)
      const after = { ...wanted, updatedAt: isoTimestamp(clock.now()) }
      refuseConflict(await store.replace(before, after, shownConfig(after.type, config), by), after)
      await changed()
      return resource(after)
    },
    async delete(reach, id, by) {
      const deleted = await store.delete(scopeOf(reach), id, { by, now: isoTimestamp(clock.now()) })
      await changed()
      if (!deleted) throw unknownDestination()
    },
  }
}

export const storedConfig = ({ config }: Pick<DestinationRecord, 'config'>): StoredConfig => config as unknown as StoredConfig

const NO_HEALTH: DeliveryHealth = { last_success_at: null, last_error: null, dropped: 0, queued: 0 }

const DEFAULTS: DestinationSettings = {
  name: null,
  enabled: true,
  api_key_hashes: null,
  sampling_rate: 1,
  privacy_mode: false,
  broadcast_generation_cost: false,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: false,
  filter_rules: null,
  regions: ['global'],
}

const checkPattern = (pattern: string, path: string): void => {
  try {
    createRegex(pattern)
  } catch (thrown) {
    if (thrown instanceof RegexRefused) throw invalidField(path, thrown.message)
    throw thrown
  }
}

const refuseConflict = (conflict: DestinationConflict | null, { type, settings }: DestinationRecord): void => {
  if (conflict === null) return
  throw new GatewayError('precondition_failed', CONFLICTS[conflict](type, settings.name ?? ''), { status: 409 })
}

const CONFLICTS: Readonly<Record<DestinationConflict, (type: string, name: string) => string>> = {
  name: (_, name) => `name: the workspace has a destination "${name}" already.`,
  count: (type) => `type: a workspace has at most ${DESTINATIONS_MAX} destinations of type ${type}. Delete one first.`,
  changed: () => 'The destination was changed at the same time. Read it and try again.',
}

const unknownDestination = (): GatewayError => new GatewayError('not_found', 'There is no destination with this id.')
