/** An API key as the caller of a request. */
import type { ProviderFailureMode } from '../contract/provider-failure.ts'
import type { SpendingLimit, Spender } from '../ledger/scope.ts'
import type { KeyRecord } from '../storage/keys/key-record.ts'
import type { KeyKind } from './key-format.ts'

/** The key that makes a request. */
export interface Principal {
  readonly hash: string
  readonly kind: KeyKind
  readonly workspaceId: string
  readonly userId: string
  /** Requests with this key are refused if they ask for something that cannot be honoured. */
  readonly strict: boolean
  /** The key's own limits; null means the default of the configuration file. */
  readonly rpmLimit: number | null
  readonly tpmLimit: number | null
  /** How a provider's failure reaches this caller; null means the server's default. */
  readonly providerFailure: ProviderFailureMode | null
  /** Who uses the key, as its creator wrote it. */
  readonly externalUser: string | null
  /** The amount that it may spend; null means only the budgets around it apply. */
  readonly limit: SpendingLimit | null
  /**
   * The request used the secret from before a rotation, which is valid only for its grace period and may begin nothing that lasts longer.
   */
  readonly isReplaced: boolean
}

/** A key, as recognised by the secret that was sent. */
export type KnownKey = KeyRecord & { readonly isReplaced?: true }

/** The caller in the form that budgets use. */
export const spenderOf = ({ hash, workspaceId, userId, limit }: Principal): Spender => ({ keyHash: hash, workspaceId, userId, limit })

/** The caller in the form that runs and their records use. */
export const callerOf = (principal: Principal): Spender & Pick<Principal, 'externalUser'> => ({
  ...spenderOf(principal),
  externalUser: principal.externalUser,
})

/** The key as a caller, even if it would not be admitted now. */
export const principalOf = (record: KnownKey): Principal => ({
  hash: record.hash,
  kind: record.kind,
  workspaceId: record.workspaceId,
  userId: record.creatorUserId,
  strict: record.strict,
  rpmLimit: record.rpmLimit,
  tpmLimit: record.tpmLimit,
  providerFailure: record.providerFailure,
  externalUser: record.externalUser,
  limit: limitOf(record),
  isReplaced: record.isReplaced === true,
})

const limitOf = ({ limitNanos, limitReset, includeByokInLimit }: KeyRecord): SpendingLimit | null =>
  limitNanos === null ? null : { nanos: limitNanos, interval: limitReset, includeByok: includeByokInLimit }

/** The key as seen with its previous secret after a rotation. */
export const untilRetired = (record: KeyRecord, until: string): KnownKey => ({
  ...record,
  isReplaced: true,
  expiresAt: record.expiresAt !== null && record.expiresAt < until ? record.expiresAt : until,
})
