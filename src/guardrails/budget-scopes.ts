/**
 * The budgets of guardrails in the form that the ledger checks: each one separately, for the key or the member that spends it
 * (docs/contract/guardrails.md#combination).
 */
import type { Scope, ScopeSource, Spender } from '../ledger/scope.ts'
import { nanosOf } from '../lib/money.ts'
import type { Effective } from './effective.ts'
import type { Guardrails } from './guardrails.ts'

/** Guardrails invalidate their own cache of a caller, budgets included. */
export const guardrailBudgets = ({ effective }: Pick<Guardrails, 'effective'>): ScopeSource => ({
  scopes(spender) {
    const { keyHash: hash, userId, workspaceId } = spender
    const found = effective({ hash, userId, workspaceId })
    return found instanceof Promise ? found.then((loaded) => budgetScopes(loaded, spender)) : budgetScopes(found, spender)
  },
})

/** A budget of the workspace applies to each key, and to each member across all keys. */
export const budgetScopes = (effective: Effective | null, { keyHash, userId }: Pick<Spender, 'keyHash' | 'userId'>): readonly Scope[] =>
  effective === null
    ? NONE
    : effective.applied.flatMap(({ guardrail, scope }): readonly Scope[] => {
        if (guardrail.limit_usd === null) return NONE
        const budget = {
          limitNanos: nanosOf(guardrail.limit_usd),
          interval: guardrail.reset_interval,
          includeByok: guardrail.include_byok_in_budgets,
          guardrailId: guardrail.id,
          budgetId: null,
          allowLastRequest: false,
        }
        const ofKey = `guardrail:${guardrail.id}:key:${keyHash}`
        const ofMember = `guardrail:${guardrail.id}:member:${userId}`
        if (scope === 'api-key') return [{ id: ofKey, kind: 'api_key', ...budget }]
        if (scope === 'member') return [{ id: ofMember, kind: 'member', ...budget }]
        return [
          { id: ofMember, kind: 'workspace_default_member', ...budget },
          { id: ofKey, kind: 'workspace_default_key', ...budget },
        ]
      })

const NONE: readonly Scope[] = []
