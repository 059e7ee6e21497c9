/** The budgets of guardrails, as the ledger checks them: each by itself, for the key or the member that it is spent by (contract 7.1). */
import { nanosOf } from '../lib/money.ts'
import type { Effective } from './effective.ts'
import type { Principal } from '../keys/keys.ts'

export interface BudgetScope {
  /** Whose spending counts: one counter for each guardrail and key, or member. */
  readonly id: string
  readonly kind: 'workspace_default_member' | 'workspace_default_key' | 'member' | 'api_key'
  readonly limitNanos: number
  readonly interval: 'daily' | 'weekly' | 'monthly' | null
  readonly includeByok: boolean
  readonly guardrailId: string
}

/** In the order in which they are checked (decision 24). That of the workspace bounds each key, and each member over all keys. */
export const budgetScopes = (effective: Effective | null, { hash, userId }: Pick<Principal, 'hash' | 'userId'>): readonly BudgetScope[] => {
  const scopes = (effective?.applied ?? []).flatMap(({ guardrail, scope }): BudgetScope[] => {
    if (guardrail.limit_usd === null) return []
    const budget = {
      limitNanos: nanosOf(guardrail.limit_usd),
      interval: guardrail.reset_interval,
      includeByok: guardrail.include_byok_in_budgets,
      guardrailId: guardrail.id,
    }
    const ofKey = `guardrail:${guardrail.id}:key:${hash}`
    const ofMember = `guardrail:${guardrail.id}:member:${userId}`
    if (scope === 'api-key') return [{ id: ofKey, kind: 'api_key', ...budget }]
    if (scope === 'member') return [{ id: ofMember, kind: 'member', ...budget }]
    return [
      { id: ofMember, kind: 'workspace_default_member', ...budget },
      { id: ofKey, kind: 'workspace_default_key', ...budget },
    ]
  })
  return scopes.toSorted((left, right) => ORDER.indexOf(left.kind) - ORDER.indexOf(right.kind))
}

const ORDER: readonly BudgetScope['kind'][] = ['workspace_default_member', 'workspace_default_key', 'member', 'api_key']
