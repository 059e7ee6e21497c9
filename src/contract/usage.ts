/** Model usage over time, broken down by dimensions (docs/contract/management.md#usage). Amounts are in US dollars. */
import { z } from 'zod'

import { errorType } from './error-type.ts'
import { keyHash } from './key-hash.ts'
import { wholeNumber } from './paging.ts'
import { timeRangeQuery } from './time-range.ts'

export const usageDimension = z.enum([
  'key',
  'model',
  'provider',
  'preset',
  'preset_version',
  'user',
  'workspace',
  'interface',
  'error_type',
])

const name = z.string().min(1).max(256).optional()

const usageInterval = z.enum(['minute', 'hour', 'day', 'month'])

export const usageQuery = {
  ...timeRangeQuery,
  interval: usageInterval.optional().meta({ description: '`day` when absent.' }),
  group_by: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(usageDimension).max(2, 'At most two, with a comma between them.'))
    .refine((names) => new Set(names).size === names.length, 'Name each once.')
    .optional()
    .meta({ description: `At most two of ${usageDimension.options.join(', ')}, with a comma between them.` }),
  top: wholeNumber(1, 50)
    .optional()
    .meta({ description: 'How many groups are listed separately; 8 when absent. The others are added up as one.' }),
  sort: z.enum(['cost', 'tokens', 'requests', 'errors']).optional().meta({
    description:
      "Which groups are listed separately, and in what order: those with most of this first. `cost`, also with customers' own provider keys, when absent.",
  }),
  model: name,
  provider: name.meta({ description: 'The slug of a provider.' }),
  preset: name.meta({ description: 'The slug of a preset.' }),
  preset_version: wholeNumber(1, 999_999_999).optional(),
  key: keyHash.optional(),
  user_id: name,
  interface: z.enum(['chat', 'responses', 'messages', 'embeddings']).optional(),
  error_type: errorType.optional(),
}

const count = z.int()
const milliseconds = z.int().nullable()

export const usageSums = {
  requests: count,
  errors: count,
  cancelled: count,
  tokens_prompt: count,
  tokens_completion: count,
  tokens_reasoning: count.meta({ description: 'Part of the completion.' }),
  tokens_cache_read: count.meta({ description: 'Part of the prompt, as `tokens_cache_write` is.' }),
  tokens_cache_write: count,
  cost: z.number(),
  byok_cost: z.number().meta({ description: "What was spent with customers' own provider keys; not part of the cost." }),
  estimated_requests: count.meta({ description: 'Requests whose tokens the provider did not report.' }),
  estimated_cost: z.number().meta({ description: 'What these cost; part of the cost.' }),
  unpriced_requests: count.meta({
    description: 'Requests whose price is not known; their cost is 0, or at a price of the operator.',
  }),
  ttft_p50: milliseconds.meta({
    description: 'To the first content; null where there was none. Within the borders of 24 buckets, as the other percentiles.',
  }),
  ttft_p95: milliseconds,
  ttft_p99: milliseconds,
  total_p50: milliseconds,
  total_p95: milliseconds,
  total_p99: milliseconds,
}

const values = {
  key: z.string().nullable().optional(),
  key_name: z.string().nullable().optional(),
  model: z.string().nullable().optional(),
  provider: z.string().nullable().optional(),
  preset: z.string().nullable().optional().meta({ description: 'The slug.' }),
  preset_version: z.int().nullable().optional(),
  user: z.string().nullable().optional(),
  user_name: z.string().nullable().optional().meta({
    description: 'The name that the workspace has for the person; null if workspaces that are summed together have different ones.',
  }),
  workspace: z.string().nullable().optional(),
  workspace_slug: z.string().nullable().optional(),
  interface: z.string().nullable().optional(),
  error_type: z.string().nullable().optional(),
  other: z.boolean().optional().meta({ description: 'True for the sum of all groups that are not listed separately.' }),
}

const usageSlot = z.object({ ...values, ...usageSums }).meta({ id: 'UsageGroup', description: 'What one group used in the whole range.' })

const usagePoint = z
  .object({ time: z.iso.datetime().meta({ description: 'When the interval begins.' }), ...values, ...usageSums })
  .meta({ id: 'UsagePoint', description: 'What one group used in one interval.' })

export const usageAnswer = z.object({
  from: z.iso.datetime().meta({ description: 'The range that is summed: that of the query, on the borders of its intervals.' }),
  to: z.iso.datetime(),
  interval: usageInterval.meta({ description: 'Of the points: that of the query, or a longer one, and then `coarser` says why.' }),
  coarser: z
    .object({ asked: usageInterval, reason: z.literal('too_many_records'), records_max: z.int() })
    .nullable()
    .meta({
      description:
        'Null where the points have the interval of the query. Minutes are read from the records themselves, and one answer reads at most `records_max` of them.',
    }),
  data: z.array(usagePoint),
  groups: z.array(usageSlot).meta({ description: 'Those with most of what `sort` names first, the others last.' }),
})
