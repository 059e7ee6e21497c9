/** The limits on a request's cost: limits of its key, budgets of its member and its workspace, prepaid credit. */
import type { Span } from '../storage/tables/ledger-tables.ts'
import { SUBJECTS } from '../storage/ledger/scope-windows.ts'

/** In the order in which they are checked; the first exhausted one is reported (docs/contract/budgets.md#order-of-checks). */
export const SCOPE_KINDS = ['workspace_default_member', 'workspace_default_key', 'member', 'api_key', 'workspace', 'key_limit'] as const
export type ScopeKind = (typeof SCOPE_KINDS)[number]

/** Null means no reset: the limit holds for all time. */
export type Interval = 'daily' | 'weekly' | 'monthly' | null

export interface Scope {
  /** Distinguishes this scope from every other. */
  readonly id: string
  /** `credits`: prepaid credit, checked after all the others and refused with 402. */
  readonly kind: ScopeKind | 'credits'
  readonly limitNanos: number
  readonly interval: Interval
  /** True if spending with customers' own provider keys counts. */
  readonly includeByok: boolean
  readonly guardrailId: string | null
  readonly budgetId: string | null
  /** Admits one request that may cost more than is left, if no other is running (docs/contract/budgets.md#last-request). */
  readonly allowLastRequest: boolean
}

/** The key, workspace and user that spend. */
export interface Spender {
  readonly keyHash: string
  readonly workspaceId: string
  readonly userId: string
  /** The key's own limit; null if it has none. */
  readonly limit: SpendingLimit | null
}

export interface SpendingLimit {
  readonly nanos: number
  readonly interval: Interval
  readonly includeByok: boolean
}

/**
 * A source of scopes: keys, workspace budgets or guardrails. Returns without a promise if they are in memory; after `refreshCache`, which
 * the change counter calls, a source reads them again.
 */
export interface ScopeSource {
  scopes(spender: Spender): readonly Scope[] | Promise<readonly Scope[]>
  refreshCache?(): void
}

/**
 * The subject whose spending a scope limits. All scopes of one subject and interval share one row of figures and differ only in their
 * limits, so a limit that is set or changed in the middle of a window counts what was spent in it before.
 */
export const subjectOf = (kind: Scope['kind'], { keyHash, workspaceId, userId }: Spender): string => {
  switch (kind) {
    case 'workspace_default_member':
    case 'member':
      return SUBJECTS.member(workspaceId, userId)
    case 'workspace_default_key':
    case 'api_key':
    case 'key_limit':
      return SUBJECTS.key(keyHash)
    case 'workspace':
    case 'credits':
      return SUBJECTS.workspace(workspaceId)
  }
}

export const spanOf = (interval: Interval): Span => interval ?? 'lifetime'

export const keyLimitSource: ScopeSource = {
  scopes: ({ keyHash, limit }) => (limit === null ? NONE : [keyLimitScope(keyHash, limit)]),
}

const NONE: readonly Scope[] = []

const keyLimitScope = (keyHash: string, limit: SpendingLimit): Scope => ({
  id: `key_limit:${keyHash}`,
  kind: 'key_limit',
  limitNanos: limit.nanos,
  interval: limit.interval,
  includeByok: limit.includeByok,
  guardrailId: null,
  budgetId: null,
  allowLastRequest: false,
})
