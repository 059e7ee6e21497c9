/** API keys on the wire (docs/contract/keys-and-workspaces.md#key-resource). */
import { z } from 'zod'

import { resetInterval } from './budget.ts'
import { dollarAmount } from './dollar-amount.ts'
import { keyHash } from './key-hash.ts'
import { ruledModel } from './model-name.ts'
import { providerFailure } from './provider-failure.ts'
import { shownName, storedText } from './stored-text.ts'

const timestamp = z.iso.datetime()

/** Limits in dollars: 0 to a million, with at most nine decimals, so that nano-dollars stay exact integers. */
const dollarLimit = dollarAmount.min(0)

const perMinute = z.int().min(1).max(1_000_000_000)
const rateLimits = {
  rpm_limit: perMinute.nullable().meta({ description: "Requests a minute; null: the default of the file's limits.requests_per_minute." }),
  tpm_limit: perMinute
    .nullable()
    .meta({ description: "Tokens a minute, in and out; null: the default of the file's limits.tokens_per_minute." }),
}

const failureMode = providerFailure
  .nullable()
  .meta({ description: "How providers' failures reach the client: errors.provider_failure for this key; null: as the server's file says." })

const externalUser = storedText.trim().min(1).max(512)

/** A secret of another service is refused, because nothing here would use it (decisions/0113). */
const noKeyOfOthers = z
  .null(
    'A key of another service is not kept, since nothing here would use it. Leave it out; `user` says who uses the key. Add your own key of a provider with POST /byok.',
  )
  .optional()
  .meta({ description: 'Always null or absent: a key of another service is refused, and not kept.' })

const usageFigures = {
  usage: z.number(),
  usage_daily: z.number(),
  usage_weekly: z.number(),
  usage_monthly: z.number(),
  byok_usage: z.number(),
  byok_usage_daily: z.number(),
  byok_usage_weekly: z.number(),
  byok_usage_monthly: z.number(),
}

export const apiKey = z
  .object({
    hash: keyHash,
    label: z.string(),
    name: z.string(),
    kind: z.enum(['management', 'inference']),
    disabled: z.boolean(),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: resetInterval.nullable(),
    include_byok_in_limit: z.boolean(),
    strict: z
      .boolean()
      .meta({ description: 'Requests with this key refuse what cannot be honoured, instead of leaving it out with a warning.' }),
    ...rateLimits,
    provider_failure: failureMode,
    ...usageFigures,
    created_at: timestamp,
    updated_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
    creator_user_id: z.string().nullable(),
    workspace_id: z.string(),
    external_user: z.string().nullable().meta({ description: 'Who uses the key, as its creator named them; on its generations too.' }),
    purpose: z
      .enum(['playground', 'application'])
      .nullable()
      .meta({ description: "A person's playground, or an application that the person allowed; null for a key that somebody made." }),
    allowed_models: z.array(z.string()).nullable().meta({ description: 'The only models that it may call; null: any.' }),
    last_used_at: timestamp.nullable().meta({ description: 'To some seconds; null: never yet.' }),
  })
  .meta({ id: 'ApiKey', description: 'Amounts are US dollars; windows begin at 00:00 UTC, weeks on Monday, months on the 1st.' })

/** UTC in any ISO 8601 notation; stored in one form. */
const expiry = z.iso
  .datetime({ offset: true, error: 'Use ISO 8601 in UTC, e.g. 2027-01-31T00:00:00Z.', abort: true })
  .refine((text) => /(?:Z|[+-]00:00)$/i.test(text), 'Use UTC, e.g. 2027-01-31T00:00:00Z.')

const modelPatterns = z
  .array(ruledModel)
  .min(1)
  .max(1000)
  .meta({ description: 'The only models that it may call; `*` stands for any text, as in `openai/*`.' })

/** The only fields that may be written; any other field in a body is refused. */
export const createKeyBody = z
  .strictObject({
    name: shownName(200),
    kind: z.enum(['management', 'inference']).default('inference'),
    limit: dollarLimit.nullish(),
    limit_reset: resetInterval.nullish(),
    include_byok_in_limit: z.boolean().default(false),
    strict: z.boolean().default(false),
    rpm_limit: rateLimits.rpm_limit.optional(),
    tpm_limit: rateLimits.tpm_limit.optional(),
    provider_failure: failureMode.optional(),
    external: z.strictObject({ user: externalUser, api_key: noKeyOfOthers }).nullish(),
    expires_at: expiry.nullish(),
    allowed_models: modelPatterns.nullish(),
    creator_user_id: z.string().min(1).max(256).nullish(),
    workspace_id: z.string().nullish(),
  })
  .meta({ id: 'CreateKeyBody', examples: [{ name: 'support backend', kind: 'inference', limit: 25, limit_reset: 'monthly' }] })

export const updateKeyBody = z
  .strictObject({
    name: shownName(200).optional(),
    disabled: z.boolean().optional(),
    limit: dollarLimit.nullable().optional(),
    limit_reset: resetInterval.nullable().optional(),
    include_byok_in_limit: z.boolean().optional(),
    strict: z.boolean().optional(),
    rpm_limit: rateLimits.rpm_limit.optional(),
    tpm_limit: rateLimits.tpm_limit.optional(),
    provider_failure: failureMode.optional(),
    expires_at: expiry.nullable().optional(),
  })
  .meta({
    id: 'UpdateKeyBody',
    examples: [{ name: 'support backend', limit: 50 }],
    description: 'Absent fields stay as they are; null clears.',
  })

export const rotateKeyBody = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(30 * 24 * 60 * 60)
      .default(0)
      .meta({ description: 'How long the key before goes on working beside the new one.' }),
  })
  .prefault({})
  .meta({ id: 'RotateKeyBody', examples: [{ grace_seconds: 3600 }] })

export const createdKey = z
  .object({ data: apiKey, key: z.string().meta({ description: 'The key itself; it is shown this once.' }) })
  .meta({ id: 'CreatedKey' })

const keyBudget = z
  .object({
    scope: z.enum(['workspace_default_member', 'workspace_default_key', 'member', 'api_key', 'workspace', 'key_limit']),
    limit_usd: z.number(),
    spend_usd: z.number(),
    remaining_usd: z.number(),
    reset_interval: resetInterval.nullable(),
    resets_at: timestamp.nullable(),
    include_byok: z.boolean(),
    guardrail_id: z.string().nullable(),
    budget_id: z.string().nullable(),
  })
  .meta({ id: 'KeyBudget' })

export const keyLimit = z
  .object({
    ...keyBudget.shape,
    scope: z.enum([...keyBudget.shape.scope.options, 'credits']),
    spend_usd: z.number().meta({ description: 'What was spent in the running window, without what is held.' }),
    held_usd: z.number().meta({ description: 'What requests that run now may still cost.' }),
  })
  .meta({ id: 'KeyLimit' })

export const keyDetail = apiKey
  .extend({ limits: z.array(keyLimit).meta({ description: 'Everything that bounds the key, what leaves it least first.' }) })
  .meta({ id: 'KeyDetail' })

export const currentKey = z
  .object({
    label: z.string(),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: resetInterval.nullable(),
    include_byok_in_limit: z.boolean(),
    ...usageFigures,
    is_free_tier: z.boolean(),
    is_management_key: z.boolean(),
    is_provisioning_key: z.boolean(),
    expires_at: timestamp.nullable(),
    creator_user_id: z.string().nullable(),
    organization_id: z.string().nullable(),
    workspace_id: z.string().nullable(),
    allowed_data_regions: z.array(z.enum(['global', 'europe', 'us'])),
    free_model_daily_requests: z.object({ limit: z.number(), used: z.number(), remaining: z.number() }),
    rate_limit: z.object({ requests: z.number(), interval: z.string(), note: z.string() }),
    budgets: z.array(keyBudget),
    effective_budget: keyBudget.nullable(),
  })
  .meta({ id: 'CurrentKey', description: 'The key that asks, and what bounds it.' })

export type ApiKeyResource = z.output<typeof apiKey>

export type CurrentKey = z.output<typeof currentKey>
export type KeyLimit = z.output<typeof keyLimit>
export type KeyBudget = z.output<typeof keyBudget>
