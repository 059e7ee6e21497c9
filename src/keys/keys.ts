/** API keys: created, listed, changed and revoked; and recognised on each request, without a query while nothing has changed. */
import { mustGoByCursor } from '../contract/paging.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import { besides, type ChangedBy } from '../storage/changes/audit-log.ts'
import { mapOnce, type Once } from '../storage/changes/idempotency.ts'
import type { KeyFilter } from '../contract/key-filter.ts'
import type { KeyListInput } from '../storage/keys/key-list.ts'
import type { KeyPatch, KeyRecord } from '../storage/keys/key-record.ts'
import type { KeyStore } from '../storage/keys/key-store.ts'
import { type KeyUsage, NOTHING_USED } from '../storage/keys/key-usage.ts'
import { keyDigest, keyLabel, looksLikeKey, makeKey } from './key-format.ts'
import { type KnownKey, type Principal, principalOf, untilRetired } from './principal.ts'

/** The rest of a record is made with the key. `expiresAt` is any instant in ISO 8601. */
export type NewKey = Omit<
  KeyRecord,
  'hash' | 'digest' | 'pepperId' | 'label' | 'disabled' | 'retired' | 'createdAt' | 'updatedAt' | 'lastUsedAt'
>

/** A key without any limit or setting of its own. */
export const UNBOUNDED = {
  limitNanos: null,
  limitReset: null,
  includeByokInLimit: false,
  strict: false,
  rpmLimit: null,
  tpmLimit: null,
  providerFailure: null,
  externalUser: null,
  purpose: null,
  allowedModels: null,
  expiresAt: null,
} as const satisfies Partial<NewKey>

export interface KeyWithUsage {
  readonly record: KeyRecord
  readonly used: KeyUsage
  /** Accurate to some seconds; null means never. */
  readonly lastUsedAt: string | null
}

export interface KeyPage {
  readonly items: readonly KeyWithUsage[]
  /** The place after which the next page begins; null only at the end. */
  readonly next: KeyFilter['after']
}

export interface MadeKey extends KeyWithUsage {
  /** The key itself: it is returned here and nowhere else. */
  readonly key: string
}

export interface Keys {
  /** The result contains the key itself, which is returned nowhere else. Throws `invalid_request` for an expiry in the past. */
  create(key: NewKey, by: ChangedBy, once?: Once<MadeKey>): Promise<MadeKey>
  list(input: Omit<KeyListInput, 'now'>): Promise<KeyPage>
  /**
   * The key to which a person's requests from the playground are charged, created now if the person has none.
   * Throws `permission_denied` if the key was disabled.
   */
  playground(person: { readonly workspaceId: string; readonly userId: string }, by: ChangedBy): Promise<Principal>
  /** True if the person has such a key and may not use it now, because it is disabled. */
  isKeptOut(person: { readonly workspaceId: string; readonly userId: string }): Promise<boolean>
  /** Throws `not_found`, as the next two methods do, also for a key outside of the scope: one workspace, or null for all. */
  get(scope: string | null, hash: string, onlyUserId?: string | null): Promise<KeyWithUsage>
  update(scope: string | null, hash: string, patch: KeyPatch, by: ChangedBy): Promise<KeyWithUsage>
  revoke(scope: string | null, hash: string, by: ChangedBy): Promise<void>
  /** Makes a new secret for the same key; the previous one stays valid for `graceSeconds`. Throws `not_found`. */
  rotate(scope: string | null, hash: string, graceSeconds: number, by: ChangedBy, once?: Once<MadeKey>): Promise<MadeKey>
  /** Stores when keys were last used. */
  noteUses(): Promise<void>
  /**
   * The key that pays for what the service does by itself. Throws `not_found`, and `invalid_request` for one that is disabled or expired.
   */
  payer(scope: string | null, hash: string): Promise<Principal>
  /**
   * Null for a key that is unknown, disabled, revoked or expired. Returns synchronously if the key is cached. Throws StorageUnavailable.
   */
  authenticate(token: string): Principal | null | Promise<Principal | null>
  /** Call it if something may have changed in another process and storage answers. */
  refreshCache(): void
}

/** The number of cached keys, valid or not. */
const CACHE_MAX = 50_000

/** Derived from one root secret, whose id it has. */
export interface Pepper {
  readonly id: string
  readonly bytes: Uint8Array
}

export interface KeysParts {
  readonly store: KeyStore
  readonly clock: Clock
  readonly ids: IdSource
  /**
   * The peppers that are valid now: keys are stored under the first and found under any
   * (docs/contract/keys-and-workspaces.md#stored-keys).
   */
  readonly peppers: () => readonly [Pepper, ...Pepper[]]
  readonly onError: (thrown: unknown) => void
}

export const createKeys = ({ store, clock, ids, peppers, onError }: KeysParts): Keys => {
  const cache = createLoadCache<string, KnownKey>(CACHE_MAX, clock)
  const now = (): string => isoTimestamp(clock.now())

  /** Converts the instant to the form in which all instants are stored. */
  const futureInstant = (text: string | null): string | null => {
    if (text === null) return null
    const instant = Date.parse(text)
    if (!(instant > clock.now())) throw new GatewayError('invalid_request', 'expires_at: The time has passed. Use a later one.')
    return isoTimestamp(instant)
  }

  const admit = (record: KnownKey | null): Principal | null => {
    if (record === null || record.disabled) return null
    if (record.expiresAt !== null && Date.parse(record.expiresAt) <= clock.now()) return null
    return principalOf(record)
  }

  const admitUse = (record: KnownKey | null): Principal | null => {
    const principal = admit(record)
    if (principal !== null) uses.set(principal.hash, clock.now())
    return principal
  }

  /** A key that was stored under an older pepper is stored under the newest one when it is used. */
  const load = async (token: string, digest: string): Promise<KnownKey | null> => {
    const [current, ...older] = peppers()
    const digests = [digest, ...older.map(({ bytes }) => keyDigest(token, bytes))]
    const record = await store.find(digests, now())
    if (record !== null && record.retired !== null && digests.includes(record.retired.digest))
      return untilRetired(record, record.retired.until)
    // Until this succeeds, the key is still found under the old pepper.
    if (record !== null && record.digest !== digest) await store.renewDigest(record.hash, digest, current.id).catch(onError)
    return record
  }

  /** Uses that are not stored yet. */
  let uses = new Map<string, number>()
  const lastUseOf = ({ hash, lastUsedAt }: KeyRecord): string | null => {
    const unwritten = uses.get(hash)
    return unwritten === undefined ? lastUsedAt : isoTimestamp(unwritten)
  }
  const withUsage = async (record: KeyRecord): Promise<KeyWithUsage> => ({
    record,
    used: await store.usage(record.hash, now()),
    lastUsedAt: lastUseOf(record),
  })
  const find = async (scope: string | null, hash: string, onlyUserId: string | null): Promise<KeyRecord> => {
    const record = await store.get(hash)
    if (record === null || (scope !== null && record.workspaceId !== scope)) throw unknownKey()
    if (onlyUserId !== null && record.creatorUserId !== onlyUserId) throw unknownKey()
    return record
  }
  const newRecord = ({ kind, ...given }: NewKey): { key: string; record: KeyRecord } => {
    const rest = { ...given, expiresAt: futureInstant(given.expiresAt) }
    const key = makeKey(kind, ids)
    const [pepper] = peppers()
    const hash = keyDigest(key, pepper.bytes)
    const record: KeyRecord = {
      ...rest,
      kind,
      hash,
      digest: hash,
      pepperId: pepper.id,
      label: keyLabel(key),
      disabled: false,
      retired: null,
      createdAt: now(),
      updatedAt: null,
      lastUsedAt: null,
    }
    return { key, record }
  }

  return {
    async payer(scope, hash) {
      const principal = admitUse(await find(scope, hash, null))
      if (principal === null)
        throw new GatewayError('invalid_request', 'key: the key that is to pay is disabled or has expired. Name another one.')
      return principal
    },
    async create(wanted, by, once) {
      const { key, record } = newRecord(wanted)
      const made: MadeKey = { key, record, used: NOTHING_USED, lastUsedAt: null }
      await store.insert(
        record,
        by,
        mapOnce(once, () => made),
      )
      cache.refresh()
      return made
    },
    async list(input) {
      const { items, next, isCut } = await store.list({ ...input, now: now() })
      if (isCut) throw mustGoByCursor()
      const used = await store.usageOfMany(
        items.map(({ hash }) => hash),
        now(),
      )
      return {
        items: items.map((record) => ({ record, used: used.get(record.hash) ?? NOTHING_USED, lastUsedAt: lastUseOf(record) })),
        next,
      }
    },
    async playground({ workspaceId, userId }, by) {
      let record = await store.playground(workspaceId, userId)
      if (record === null) {
        const made = newRecord({
          ...UNBOUNDED,
          ...PLAYGROUND,
          name: `playground (${userId.replace(MADE_ID, '$1').slice(0, NAME_SHOWN)})`,
          workspaceId,
          creatorUserId: userId,
        })
        // Another request may have created it meanwhile.
        record = (await store.insertPlayground(made.record, besides(by, 'playground-key')))
          ? made.record
          : await store.playground(workspaceId, userId)
      }
      const principal = admitUse(record)
      if (principal === null)
        throw new GatewayError('permission_denied', 'Your key for the playground is disabled. An admin of the workspace can enable it.')
      return principal
    },
    async isKeptOut({ workspaceId, userId }) {
      const record = await store.playground(workspaceId, userId)
      return record !== null && admit(record) === null
    },
    get: async (scope, hash, onlyUserId = null) => withUsage(await find(scope, hash, onlyUserId)),
    async update(scope, hash, { expiresAt, ...rest }, by) {
      const patch: KeyPatch = expiresAt === undefined ? rest : { ...rest, expiresAt: futureInstant(expiresAt) }
      const record = await store.update(scope, hash, patch, { by, now: now() })
      cache.forget((known) => known.hash === hash)
      if (record === null) throw unknownKey()
      return withUsage(record)
    },
    async revoke(scope, hash, by) {
      const revoked = await store.revoke(scope, hash, { by, now: now() })
      cache.forget((known) => known.hash === hash)
      if (!revoked) throw unknownKey()
    },
    async rotate(scope, hash, graceSeconds, by, once) {
      const { record: before, ...used } = await withUsage(await find(scope, hash, null))
      const key = makeKey(before.kind, ids)
      const [pepper] = peppers()
      const secret = {
        digest: keyDigest(key, pepper.bytes),
        pepperId: pepper.id,
        label: keyLabel(key),
        retiredUntil: isoTimestamp(clock.now() + graceSeconds * 1000),
      }
      const madeFrom = (record: KeyRecord | null): MadeKey => {
        if (record === null) throw unknownKey()
        return { key, record, ...used }
      }
      const record = await store.rotate(scope, hash, secret, { by, now: now(), once: mapOnce(once, madeFrom) })
      cache.forget((known) => known.hash === hash)
      return madeFrom(record)
    },
    async noteUses() {
      if (uses.size === 0) return
      const noted = uses
      uses = new Map()
      try {
        await store.noteUses(new Map([...noted].map(([hash, atMs]) => [hash, isoTimestamp(atMs)])))
      } catch (thrown) {
        uses = new Map([...noted, ...uses])
        throw thrown
      }
    },
    authenticate(token) {
      if (!looksLikeKey(token)) return null
      const record = cache.get(keyDigest(token, peppers()[0].bytes), (digest) => load(token, digest))
      return record instanceof Promise ? record.then(admitUse) : admitUse(record)
    },
    refreshCache: cache.refresh,
  }
}

/** Five dollars a month. */
const PLAYGROUND = { kind: 'inference', purpose: 'playground', limitNanos: 5_000_000_000, limitReset: 'monthly' } as const
/** An id that the service made: its first digits identify the person well enough. */
const MADE_ID = /^(user_[0-9a-f]{8})-[0-9a-f-]{27}$/
/** A key's name has at most 200 characters. */
const NAME_SHOWN = 180

const unknownKey = (): GatewayError => new GatewayError('not_found', 'No key has this hash.')
