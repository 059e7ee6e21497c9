/** API keys: made, listed, changed, revoked; and told apart at the door without a query while nothing has changed. */
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import type { KeyLimit, Spender } from '../ledger/scope.ts'
import type { KeyPatch, KeyRecord, KeyStore, KeyUsage } from '../storage/key-store.ts'
import { keyDigest, keyLabel, looksLikeKey, makeKey, type KeyKind } from './key-format.ts'

/** Who is calling. */
export interface Principal {
  readonly hash: string
  readonly kind: KeyKind
  readonly workspaceId: string
  readonly userId: string
  /** Requests with this key refuse what cannot be honoured. */
  readonly strict: boolean
  /** What it may spend; null: as much as the budgets around it let it. */
  readonly limit: KeyLimit | null
}

/** The caller as budgets know it. */
export const spenderOf = ({ hash, workspaceId, userId, limit }: Principal): Spender => ({ keyHash: hash, workspaceId, userId, limit })

const limitOf = ({ limitNanos, limitReset, includeByokInLimit }: KeyRecord): KeyLimit | null =>
  limitNanos === null ? null : { nanos: limitNanos, interval: limitReset, includeByok: includeByokInLimit }

export interface NewKey {
  readonly kind: KeyKind
  readonly name: string
  readonly workspaceId: string
  readonly creatorUserId: string
  readonly limitNanos: number | null
  readonly limitReset: KeyRecord['limitReset']
  readonly includeByokInLimit: boolean
  readonly strict: boolean
  /** ISO timestamp. */
  readonly expiresAt: string | null
}

export interface KeyWithUsage {
  readonly record: KeyRecord
  readonly used: KeyUsage
}

export interface Keys {
  /** The key itself is in this answer and nowhere else. Throws `invalid_request` for an expiry in the past. */
  create(key: NewKey): Promise<{ readonly key: string; readonly record: KeyRecord }>
  list(input: { workspaceId: string; includeDisabled: boolean; offset: number; limit: number }): Promise<readonly KeyWithUsage[]>
  /** Throws `not_found`, as the next two do, also for a key of another workspace. */
  get(workspaceId: string, hash: string): Promise<KeyWithUsage>
  update(workspaceId: string, hash: string, patch: KeyPatch): Promise<KeyWithUsage>
  revoke(workspaceId: string, hash: string): Promise<void>
  /** Null for a key that is unknown, disabled, revoked or expired. At once where the key is known. Throws StorageUnavailable. */
  authenticate(token: string): Principal | null | Promise<Principal | null>
  /** Something changed, here or in another process. */
  dropCache(): void
}

/** Keys, valid or not, that are remembered. */
const CACHE_MAX = 50_000

export const createKeys = (parts: { store: KeyStore; clock: Clock; ids: IdSource; pepper: Uint8Array }): Keys => {
  const { store, clock, ids, pepper } = parts
  const cache = createLoadCache<string, KeyRecord>(CACHE_MAX)
  const now = (): string => isoTimestamp(clock.now())

  const admit = (record: KeyRecord | null): Principal | null => {
    if (record === null || record.disabled) return null
    if (record.expiresAt !== null && Date.parse(record.expiresAt) <= clock.now()) return null
    return {
      hash: record.hash,
      kind: record.kind,
      workspaceId: record.workspaceId,
      userId: record.creatorUserId,
      strict: record.strict,
      limit: limitOf(record),
    }
  }

  const withUsage = async (record: KeyRecord): Promise<KeyWithUsage> => ({ record, used: await store.usage(record.hash, now()) })

  return {
    async create({ kind, ...rest }) {
      if (rest.expiresAt !== null && Date.parse(rest.expiresAt) <= clock.now()) {
        throw new GatewayError('invalid_request', 'expires_at: the instant has passed.')
      }
      const key = makeKey(kind, ids)
      const record: KeyRecord = {
        ...rest,
        kind,
        hash: keyDigest(key, pepper),
        label: keyLabel(key),
        disabled: false,
        createdAt: now(),
        updatedAt: null,
      }
      await store.insert(record)
      cache.clear()
      return { key, record }
    },
    async list(input) {
      const records = await store.list(input)
      const used = await store.usageOfMany(
        records.map(({ hash }) => hash),
        now(),
      )
      return records.map((record) => ({ record, used: used.get(record.hash) ?? NOTHING_USED }))
    },
    async get(workspaceId, hash) {
      const record = await store.get(hash)
      if (record === null || record.workspaceId !== workspaceId) throw unknownKey()
      return withUsage(record)
    },
    async update(workspaceId, hash, patch) {
      const record = await store.update(workspaceId, hash, patch, now())
      cache.clear()
      if (record === null) throw unknownKey()
      return withUsage(record)
    },
    async revoke(workspaceId, hash) {
      const revoked = await store.revoke(workspaceId, hash, now())
      cache.clear()
      if (!revoked) throw unknownKey()
    },
    authenticate(token) {
      if (!looksLikeKey(token)) return null
      const record = cache.get(keyDigest(token, pepper), store.get)
      return record instanceof Promise ? record.then(admit) : admit(record)
    },
    dropCache: cache.clear,
  }
}

const unknownKey = (): GatewayError => new GatewayError('not_found', 'No key has this hash.')

const NO_TOTALS = { totalNanos: 0, dailyNanos: 0, weeklyNanos: 0, monthlyNanos: 0 }
const NOTHING_USED: KeyUsage = { usage: NO_TOTALS, byok: NO_TOTALS }
