/**
 * Finds which of its workspace's own provider keys a request may use. The keys are unsealed once and cached until something changes, so
 * that a request needs no query.
 */
import type { Clock } from '../lib/clock.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import type { ByokRecord, ByokStore } from '../storage/keys/byok-store.ts'
import { unseal, type SealingKey } from './envelope.ts'
import { sealContext, type ProviderKeysParts } from './provider-keys.ts'

/** The API key and the user that ask. */
export interface KeyUser {
  readonly hash: string
  readonly userId: string
}

export interface CustomerKey {
  readonly id: string
  readonly apiKey: string
  /** Tried after the service's own keys instead of before them. */
  readonly isFallback: boolean
}

export interface CustomerKeyChoice {
  /** In the order in which they are tried. */
  readonly keys: readonly CustomerKey[]
  /** The service's own keys of the provider may be used too. */
  readonly sharedAllowed: boolean
}

/** The keys for one caller. `provider`: its slug. `isModel`: says whether a name that the customer gave means the requested model. */
export type CustomerKeyLookup = (provider: string, isModel: (name: string) => boolean) => CustomerKeyChoice

export interface CustomerKeys {
  /** Null if the workspace has no keys. Returns without a promise if they are cached. Throws StorageUnavailable. */
  forCaller(workspaceId: string, user: KeyUser): CustomerKeyLookup | null | Promise<CustomerKeyLookup | null>
  /** Call it when something may have changed in another process, and storage is available. */
  refreshCache(): void
  /** Call it when the keys of this workspace have changed; null for those of all workspaces. */
  changed(workspaceId: string | null): void
  /** Unseals keys again that were unsealed for the old address of a provider. It makes no query, since storage may be unavailable. */
  addressesChanged(): void
}

export interface CustomerKeysParts {
  readonly store: Pick<ByokStore, 'inForce'>
  readonly clock: Pick<Clock, 'after'>
  /** Returns all keys that may have sealed a secret. */
  readonly sealingKeys: () => readonly SealingKey[]
  readonly originOf: ProviderKeysParts['originOf']
  /** Called once for a stored key that cannot be unsealed. It is not used, but what it says of the service's own keys holds. */
  readonly onError: (thrown: unknown) => void
}

/** The most workspaces whose keys are cached. */
const CACHE_MAX = 10_000

interface OpenedKey {
  readonly record: ByokRecord
  /** Null if it cannot be unsealed. */
  readonly apiKey: string | null
}

export const createCustomerKeys = ({ store, clock, sealingKeys, originOf, onError }: CustomerKeysParts): CustomerKeys => {
  const cache = createLoadCache<string, readonly ByokRecord[]>(CACHE_MAX, clock)
  let opened = new WeakMap<readonly ByokRecord[], readonly OpenedKey[]>()

  const open = (record: ByokRecord): OpenedKey => {
    try {
      return { record, apiKey: unseal(record, sealContext(record, originOf), sealingKeys()) }
    } catch (thrown) {
      onError(thrown)
      return { record, apiKey: null }
    }
  }
  const openedOf = (records: readonly ByokRecord[]): readonly OpenedKey[] => {
    const known = opened.get(records) ?? records.map(open)
    opened.set(records, known)
    return known
  }
  const lookup = (records: readonly ByokRecord[] | null, user: KeyUser): CustomerKeyLookup | null =>
    records === null ? null : lookupOf(openedOf(records), user)

  return {
    forCaller(workspaceId, user) {
      const known = cache.get(workspaceId, store.inForce)
      return known instanceof Promise ? known.then((records) => lookup(records, user)) : lookup(known, user)
    },
    refreshCache: cache.refresh,
    changed: (workspaceId) => (workspaceId === null ? cache.forget() : cache.forget((_, known) => known === workspaceId)),
    addressesChanged() {
      opened = new WeakMap()
    },
  }
}

const lookupOf = (opened: readonly OpenedKey[], user: KeyUser): CustomerKeyLookup | null => {
  if (opened.length === 0) return null
  const mine = opened.filter(
    ({ record: { use } }) => allows(use.allowed_api_key_hashes, user.hash) && allows(use.allowed_user_ids, user.userId),
  )
  return (provider, isModel) => {
    const ofProvider = mine.filter(({ record }) => record.provider === provider)
    const usable = ofProvider.filter(({ record: { use } }) => use.allowed_models?.some(isModel) ?? true)
    return {
      keys: usable.flatMap(({ record, apiKey }) => (apiKey === null ? [] : { id: record.id, apiKey, isFallback: record.use.is_fallback })),
      sharedAllowed: !ofProvider.some(({ record: { use } }) => use.is_byok_only) && !usable.some(({ record: { use } }) => use.is_required),
    }
  }
}

const allows = (list: readonly string[] | null, value: string): boolean => list === null || list.includes(value)
