/**
 * The budgets of a key, as `GET /key` shows them (docs/contract/budgets.md#order-of-checks). They are read from the rows that admission
 * checks, including held amounts.
 */
import type { KeyBudget, KeyLimit } from '../contract/key.ts'
import { dollars } from '../lib/money.ts'
import { windowEnd } from '../storage/usage/usage-windows.ts'
import type { ScopeFigures } from './ledger.ts'

/** Without credit, which limits the account and has an operation of its own. */
export const keyBudgets = (figures: readonly ScopeFigures[], atMs: number): KeyBudget[] =>
  figures.flatMap(({ scope, spentNanos, heldNanos }) => {
    if (scope.kind === 'credits') return []
    const usedNanos = spentNanos + heldNanos
    return [
      {
        scope: scope.kind,
        limit_usd: dollars(scope.limitNanos),
        spend_usd: dollars(usedNanos),
        remaining_usd: dollars(scope.limitNanos - usedNanos),
        reset_interval: scope.interval,
        resets_at: windowEnd(scope.interval, atMs),
        include_byok: scope.includeByok,
        guardrail_id: scope.guardrailId,
        budget_id: scope.budgetId,
      },
    ]
  })

/** Everything that limits a key, including credit, the smallest remaining amount first. */
export const keyLimits = (figures: readonly ScopeFigures[], atMs: number): KeyLimit[] =>
  figures
    .map(({ scope, spentNanos, heldNanos }) => ({
      scope: scope.kind,
      limit_usd: dollars(scope.limitNanos),
      spend_usd: dollars(spentNanos),
      held_usd: dollars(heldNanos),
      remaining_usd: dollars(scope.limitNanos - spentNanos - heldNanos),
      reset_interval: scope.interval,
      resets_at: windowEnd(scope.interval, atMs),
      include_byok: scope.includeByok,
      guardrail_id: scope.guardrailId,
      budget_id: scope.budgetId,
    }))
    .sort((a, b) => a.remaining_usd - b.remaining_usd)
