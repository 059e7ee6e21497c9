/** Keys as the API shows them. */
import type { ApiKeyResource, CurrentKey } from '../contract/key.ts'
import { dollars } from '../lib/money.ts'
import type { KeyRecord } from '../storage/keys/key-record.ts'
import type { KeyUsage } from '../storage/keys/key-usage.ts'
import type { KeyWithUsage } from './keys.ts'

export const keyResource = ({ record, used, lastUsedAt }: KeyWithUsage): ApiKeyResource => ({
  hash: record.hash,
  label: record.label,
  name: record.name,
  kind: record.kind,
  disabled: record.disabled,
  strict: record.strict,
  rpm_limit: record.rpmLimit,
  tpm_limit: record.tpmLimit,
  provider_failure: record.providerFailure,
  ...limitFields(record, used),
  ...usageFields(used),
  created_at: record.createdAt,
  updated_at: record.updatedAt,
  expires_at: record.expiresAt,
  creator_user_id: record.creatorUserId,
  workspace_id: record.workspaceId,
  external_user: record.externalUser,
  purpose: record.purpose,
  allowed_models: record.allowedModels === null ? null : [...record.allowedModels],
  last_used_at: lastUsedAt,
})

/** `budgets` are the limits that apply to the key, in the order in which they are checked. */
export const currentKeyResource = ({ record, used }: KeyWithUsage, budgets: CurrentKey['budgets']): CurrentKey => {
  return {
    label: record.label,
    ...limitFields(record, used),
    ...usageFields(used),
    is_free_tier: false,
    is_management_key: record.kind === 'management',
    is_provisioning_key: record.kind === 'management',
    expires_at: record.expiresAt,
    creator_user_id: record.creatorUserId,
    organization_id: null,
    workspace_id: record.workspaceId,
    allowed_data_regions: ['global'],
    // Only a hosted service limits free models; -1 is the API's own value for no limit.
    free_model_daily_requests: { limit: -1, used: 0, remaining: -1 },
    rate_limit: { requests: -1, interval: '10s', note: 'Deprecated: this field says nothing.' },
    budgets,
    // Among equal amounts, the budget that is checked first (docs/contract/budgets.md#order-of-checks).
    effective_budget: budgets.toSorted((a, b) => a.remaining_usd - b.remaining_usd)[0] ?? null,
  }
}

/** Nano-dollars counted against a key's limit in its current window. */
const spentNanos = (record: KeyRecord, { usage, byok }: KeyUsage): number => {
  const window = ({ null: 'totalNanos', daily: 'dailyNanos', weekly: 'weeklyNanos', monthly: 'monthlyNanos' } as const)[
    record.limitReset ?? 'null'
  ]
  return usage[window] + (record.includeByokInLimit ? byok[window] : 0)
}

const limitFields = (
  record: KeyRecord,
  used: KeyUsage,
): Pick<ApiKeyResource, 'limit' | 'limit_remaining' | 'limit_reset' | 'include_byok_in_limit'> => ({
  limit: record.limitNanos === null ? null : dollars(record.limitNanos),
  limit_remaining: record.limitNanos === null ? null : dollars(record.limitNanos - spentNanos(record, used)),
  limit_reset: record.limitReset,
  include_byok_in_limit: record.includeByokInLimit,
})

const usageFields = ({ usage, byok }: KeyUsage): Pick<ApiKeyResource, `${'' | 'byok_'}usage${'' | '_daily' | '_weekly' | '_monthly'}`> => ({
  usage: dollars(usage.totalNanos),
  usage_daily: dollars(usage.dailyNanos),
  usage_weekly: dollars(usage.weeklyNanos),
  usage_monthly: dollars(usage.monthlyNanos),
  byok_usage: dollars(byok.totalNanos),
  byok_usage_daily: dollars(byok.dailyNanos),
  byok_usage_weekly: dollars(byok.weeklyNanos),
  byok_usage_monthly: dollars(byok.monthlyNanos),
})
