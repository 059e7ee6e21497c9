/** Decides if a request may begin: a pure function of the figures in its windows. Called while their rows are locked. */
import type { ScopeWindowTable } from '../storage/tables/ledger-tables.ts'
import { SCOPE_KINDS, type Scope } from './scope.ts'

export interface InFlightSettings {
  /** The share of the remaining credit that running requests may hold together. */
  readonly fraction: number
  /** Nano-dollars; null if there is no ceiling. */
  readonly ceilingNanos: number | null
}

export interface Bound {
  readonly scope: Scope
  readonly window: ScopeWindowTable
}

/**
 * `spent`: the window's limit is used up. `too-large`: this request alone may cost more than is left. `weight`: this request alone exceeds
 * the in-flight budget. `busy`: it fits once other running requests have ended and freed `shortNanos`.
 */
export type Refusal = { readonly bound: Bound; readonly spentNanos: number } & (
  | { readonly cause: 'spent' | 'too-large' | 'weight'; readonly estimateNanos: number }
  | { readonly cause: 'busy'; readonly shortNanos: number }
)

/**
 * Checks the scopes in their order, with credit last (docs/contract/budgets.md#order-of-checks). A spent limit is reported before one for
 * which this request is too large, and that before one that other requests fill only for now: refusals that waiting cannot help come first.
 */
export const decide = (bounds: readonly Bound[], estimateNanos: number, inFlight: InFlightSettings): Refusal | null => {
  for (const bound of bounds) {
    const spentNanos = spentOf(bound)
    if (spentNanos >= bound.scope.limitNanos) return { cause: 'spent', bound, spentNanos, estimateNanos }
  }
  for (const bound of bounds) {
    const spentNanos = spentOf(bound)
    const left = bound.scope.limitNanos - spentNanos
    if (estimateNanos > left && !bound.scope.allowLastRequest) return { cause: 'too-large', bound, spentNanos, estimateNanos }
    if (bound.scope.kind === 'credits' && estimateNanos > inFlightNanos(left, inFlight)) {
      return { cause: 'weight', bound, spentNanos, estimateNanos }
    }
  }
  for (const bound of bounds) {
    const spentNanos = spentOf(bound)
    const left = bound.scope.limitNanos - spentNanos
    const allowed = bound.scope.kind === 'credits' ? inFlightNanos(left, inFlight) : left
    // The last request under a limit must run alone.
    const short = estimateNanos > left ? bound.window.held_n : bound.window.held_n + estimateNanos - allowed
    if (short > 0) return { cause: 'busy', bound, spentNanos, shortNanos: short }
  }
  return null
}

export const spentOf = ({ scope, window }: Bound): number => window.committed_n + (scope.includeByok ? window.byok_n : 0)

const inFlightNanos = (leftNanos: number, { fraction, ceilingNanos }: InFlightSettings): number =>
  Math.min(ceilingNanos ?? Number.POSITIVE_INFINITY, Math.floor(leftNanos * fraction))

/** Within one kind, the broadest interval comes first (docs/contract/budgets.md#order-of-checks). */
const INTERVALS: readonly Scope['interval'][] = [null, 'monthly', 'weekly', 'daily']

export const inOrder = (scopes: readonly Scope[]): readonly Scope[] => (scopes.length < 2 ? scopes : scopes.toSorted(byRank))

const byRank = (a: Scope, b: Scope): number =>
  kindRank(a) - kindRank(b) || INTERVALS.indexOf(a.interval) - INTERVALS.indexOf(b.interval) || a.limitNanos - b.limitNanos

const kindRank = ({ kind }: Scope): number => (kind === 'credits' ? SCOPE_KINDS.length : SCOPE_KINDS.indexOf(kind))
