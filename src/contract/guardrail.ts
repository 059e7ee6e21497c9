/** Guardrails on the wire (docs/contract/guardrails.md#resource). `applies_to` and `moderation` are ours; everything else is the public API's. */
import { z } from 'zod'

import { SERVER_TOOLS } from '../canonical/server-tools.ts'
import { PATTERN_MAX } from '../lib/regex/parse.ts'
import { resetInterval } from './budget.ts'
import { dollarAmount } from './dollar-amount.ts'
import { ruledModel } from './model-name.ts'
import { shownName, storedText } from './stored-text.ts'

const timestamp = z.iso.datetime()

export const guardrailId = z.string().min(1).max(64).meta({ description: 'Id of a guardrail; `default` names that of the workspace.' })

export const FILTER_ACTIONS = ['block', 'redact', 'flag'] as const
export const BUILTIN_SLUGS = [
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'secrets',
  'person-name',
  'address',
  'regex-prompt-injection',
] as const

export type FilterAction = (typeof FILTER_ACTIONS)[number]
export type BuiltinSlug = (typeof BUILTIN_SLUGS)[number]

const action = z.enum(FILTER_ACTIONS).meta({ description: 'block: 403. redact: a placeholder takes its place. flag: it is only reported.' })
const side = z
  .enum(['input', 'output', 'both'])
  .meta({ description: 'The side that is screened: the input of the model, its output, or both.' })
const scanScope = z.enum(['user_only', 'all_messages'])

export type FilterSide = z.output<typeof side>
export type ScanScope = z.output<typeof scanScope>

/** Routes compile the pattern in steps and refuse one that cannot be matched in a single pass over any text. */
const pattern = z
  .string()
  .min(1)
  .max(PATTERN_MAX)
  .meta({ description: 'A JavaScript regular expression without look-around and back-references. The longest match counts.' })

const contentFilter = z
  .strictObject({ pattern, action, label: storedText.max(100).nullish(), applies_to: side.optional() })
  .meta({ id: 'GivenContentFilter' })

const contentFilterOut = z
  .object({ pattern: z.string(), action, label: z.string().nullable(), applies_to: side })
  .meta({ id: 'ContentFilter' })

const builtinFilter = z
  .strictObject({
    slug: z.enum(BUILTIN_SLUGS),
    action,
    /** Read-only, but accepted because a client sends back what it has read. */
    label: z.string().optional(),
    scan_scope: scanScope.optional(),
    applies_to: side.optional(),
  })
  .meta({ id: 'GivenBuiltinFilter' })

const builtinFilterOut = z
  .object({
    slug: z.enum(BUILTIN_SLUGS),
    action,
    label: z.string().meta({ description: 'The placeholder.' }),
    scan_scope: scanScope.optional(),
    applies_to: side,
  })
  .meta({ id: 'BuiltinFilter' })

const moderationEntry = z
  .strictObject({
    endpoint: z.string().min(1).max(100).meta({ description: 'An endpoint of `moderation` in the configuration file.' }),
    action: z.enum(['block', 'flag']).default('block'),
  })
  .meta({ id: 'ModerationEntry' })

const LIST_MAX = 1000
const names = z.array(z.string().min(1).max(256)).min(1).max(LIST_MAX)
const models = z.array(ruledModel).min(1).max(LIST_MAX)
const dataRegion = z.enum(['global', 'europe', 'us'])
const limitUsd = dollarAmount.gt(0)
const flag = z.boolean().nullish()

const deniedTools = z
  .array(z.enum(SERVER_TOOLS))
  .max(100)
  .meta({
    id: 'DeniedTools',
    description: 'Server tools that no request may use, whether the service or a provider would run them.',
    examples: [['web_search', 'web_fetch']],
  })

/** The members that both request bodies may set; null clears one. */
const settings = {
  description: storedText.max(1000).nullish(),
  limit_usd: limitUsd.nullish(),
  reset_interval: resetInterval.nullish(),
  include_byok_in_budgets: z.boolean().optional(),
  allowed_models: models.nullish(),
  ignored_models: models.nullish(),
  allowed_providers: names.nullish(),
  ignored_providers: names.nullish(),
  enforce_zdr: flag,
  enforce_zdr_anthropic: flag,
  enforce_zdr_openai: flag,
  enforce_zdr_google: flag,
  enforce_zdr_xai: flag,
  enforce_zdr_other: flag,
  enable_free_model_publication: flag,
  enable_free_model_training: flag,
  enable_paid_model_training: flag,
  allowed_data_regions: z.array(dataRegion).min(1).nullish(),
  denied_tools: deniedTools.nullish(),
  content_filters: z.array(contentFilter).max(100).nullish(),
  content_filter_builtins: z.array(builtinFilter).max(50).nullish(),
  moderation: z.array(moderationEntry).max(5).nullish(),
}

export const createGuardrailBody = z.strictObject({ name: shownName(200), workspace_id: z.string().nullish(), ...settings }).meta({
  id: 'CreateGuardrailBody',
  examples: [
    {
      name: 'Customer data',
      content_filter_builtins: [
        { slug: 'email', action: 'redact' },
        { slug: 'secrets', action: 'block' },
      ],
      content_filters: [{ pattern: String.raw`PROJ-\d{3,6}`, action: 'redact', label: 'PROJECT' }],
      allowed_providers: ['openai', 'anthropic'],
      limit_usd: 25,
      reset_interval: 'monthly',
    },
  ],
})

export const updateGuardrailBody = z.strictObject({ name: shownName(200).optional(), ...settings }).meta({
  id: 'UpdateGuardrailBody',
  examples: [{ allowed_providers: null, limit_usd: 50, reset_interval: 'monthly' }],
  description: 'Absent fields stay as they are; null clears.',
})

const nullableFlag = z.boolean().nullable()

export const guardrail = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    workspace_id: z.string(),
    limit_usd: z.number().nullable(),
    reset_interval: resetInterval.nullable(),
    include_byok_in_budgets: z.boolean(),
    allowed_models: z.array(z.string()).nullable(),
    ignored_models: z.array(z.string()).nullable(),
    allowed_providers: z.array(z.string()).nullable(),
    ignored_providers: z.array(z.string()).nullable(),
    enforce_zdr: nullableFlag,
    enforce_zdr_anthropic: nullableFlag,
    enforce_zdr_openai: nullableFlag,
    enforce_zdr_google: nullableFlag,
    enforce_zdr_xai: nullableFlag,
    enforce_zdr_other: nullableFlag,
    enable_free_model_publication: nullableFlag,
    enable_free_model_training: nullableFlag,
    enable_paid_model_training: nullableFlag,
    allowed_data_regions: z.array(dataRegion).nullable(),
    denied_tools: deniedTools.nullable(),
    content_filters: z.array(contentFilterOut).nullable(),
    content_filter_builtins: z.array(builtinFilterOut).nullable(),
    moderation: z.array(moderationEntry).nullable(),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Guardrail', description: 'It acts on the keys and members that it is assigned to; that of the workspace on all requests.' })

export const guardrailsQuery = {
  include: z
    .literal('hits')
    .optional()
    .meta({ description: '`hits`: how often each rule found something in the last 24 hours, in whole hours.' }),
}

export const listedGuardrail = guardrail
  .extend({
    hits: z
      .array(
        z.object({
          rule: z.string().meta({
            description: 'The placeholder of the filter, which filters may share, or the moderation endpoint.',
            examples: ['[EMAIL]'],
          }),
          requests: z.int().meta({ description: 'Requests in which it found something, each counted once.' }),
        }),
      )
      .optional()
      .meta({ description: 'With `include=hits`: the rules that found something, most often first.' }),
  })
  .meta({ id: 'ListedGuardrail' })

export type ListedGuardrailResource = z.output<typeof listedGuardrail>
export type GuardrailResource = z.output<typeof guardrail>
export type GuardrailSettings = Omit<GuardrailResource, 'id' | 'workspace_id' | 'created_at' | 'updated_at'>
export type GuardrailPatch = z.output<typeof updateGuardrailBody>

const BULK_MAX = 500

export const keyHashesBody = z
  .strictObject({
    key_hashes: z
      .array(z.string().regex(/^[a-f0-9]{64}$/, 'Use the 64 hex digits of a key.'))
      .min(1)
      .max(BULK_MAX),
  })
  .meta({ id: 'GuardrailKeysBody', examples: [{ key_hashes: ['b8b1c3763133866e30b52d6bc35def2d84e10a17d44f69fe3d9b5f0bc4564702'] }] })

export const memberIdsBody = z
  .strictObject({ member_user_ids: z.array(z.string().min(1).max(256)).min(1).max(BULK_MAX) })
  .meta({ id: 'GuardrailMembersBody', examples: [{ member_user_ids: ['user_0422290a-ce3d-4d7f-8b4f-d75bb802b357'] }] })

const assignment = { id: z.string(), guardrail_id: z.string(), assigned_by: z.string().nullable(), created_at: timestamp }

export const keyAssignment = z
  .object({ ...assignment, key_hash: z.string(), key_name: z.string(), key_label: z.string() })
  .meta({ id: 'GuardrailKeyAssignment' })

export const memberAssignment = z
  .object({ ...assignment, user_id: z.string(), organization_id: z.string().meta({ description: 'The id of the workspace.' }) })
  .meta({ id: 'GuardrailMemberAssignment' })

export type KeyAssignmentResource = z.output<typeof keyAssignment>
export type MemberAssignmentResource = z.output<typeof memberAssignment>
