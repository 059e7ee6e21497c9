/** Evaluations of presets on the wire (docs/contract/presets.md#evaluations). */
import { z } from 'zod'

import { CLIENT_DIALECTS } from '../canonical/call.ts'
import { fitsWithin } from '../lib/json/json-steps.ts'
import { dollarAmount } from './dollar-amount.ts'
import { EVALUATION_ITEMS_MAX } from './evaluation-items.ts'
import { keyHash } from './key-hash.ts'
import { presetSlug } from './preset-name.ts'
import { testInput, testMessages } from './preset-test.ts'
import { instant } from './time-range.ts'
import { jsonValue } from './json-value.ts'
import { shownName } from './stored-text.ts'
import { namedValues } from './named-values.ts'

const timestamp = z.iso.datetime()
const text = z.string().min(1).max(20_000)

/** The route compiles the pattern in steps, as it does those of guardrails. */
const pattern = z.string().min(1).max(10_000)

const judgeModel = z.string().min(1).max(256).meta({ description: 'The model that judges; it may be a preset.' })

const check = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('exact'), ignore_case: z.boolean().default(false) }),
    z.strictObject({
      type: z.literal('contains'),
      text: text.optional().meta({ description: 'What each answer contains; what the item expects when absent.' }),
      ignore_case: z.boolean().default(false),
    }),
    z.strictObject({ type: z.literal('pattern'), pattern }),
    z.strictObject({ type: z.literal('json_schema'), schema: namedValues(z.string(), jsonValue) }),
    z.strictObject({ type: z.literal('cost'), max_usd: z.number().min(0) }),
    z.strictObject({ type: z.literal('latency'), max_ms: z.number().gt(0) }),
    z.strictObject({
      type: z.literal('judge'),
      model: judgeModel,
      rubric: text,
      min_score: z.number().min(1).max(5).default(4).meta({ description: 'Of 1 to 5.' }),
    }),
    z.strictObject({
      type: z.literal('pairwise'),
      model: judgeModel,
      rubric: text.default('Which answer serves the user better?'),
    }),
  ])
  .meta({ id: 'EvaluationCheck' })

/** An item's characters are limited because it is sealed, stored and read as a whole. */
const ITEM_CHARACTERS_MAX = 4 * 1024 * 1024

const item = z
  .strictObject(testInput)
  .refine((one) => fitsWithin(one, ITEM_CHARACTERS_MAX), 'An item has at most 4,194,304 characters of JSON.')

const recordedName = z.string().min(1).max(256).optional()

const recorded = z
  .strictObject({
    from: z.literal('generations'),
    preset: presetSlug.nullish().meta({ description: 'Requests that this preset served; null: any. The preset itself when absent.' }),
    preset_version: z.int().min(1).optional(),
    interface: z.enum(CLIENT_DIALECTS).optional(),
    model: recordedName,
    key: keyHash.optional().meta({ description: 'The hash of the key that asked.' }),
    session_id: recordedName,
    since: instant.optional().meta({ description: 'An instant or a day in ISO 8601; 30 days ago when absent.' }),
    until: instant.optional().meta({ description: 'The end, which is not part of it; now when absent.' }),
    expect_answer: z.boolean().default(false).meta({ description: 'Each item expects the answer that was given then.' }),
    limit: z.int().min(1).max(EVALUATION_ITEMS_MAX).default(100),
  })
  .meta({ description: 'The newest requests that were answered and whose contents are kept.' })

const evaluationBudget = dollarAmount.gt(0).optional()

export const evaluationBody = z
  .strictObject({
    version: z.int().min(1),
    baseline: z.int().min(1).nullish().meta({ description: 'A version that is run beside it, such as the live one.' }),
    items: z.array(item).min(1).max(EVALUATION_ITEMS_MAX).or(recorded).optional(),
    from_tests: z.boolean().default(false).meta({ description: "The preset's saved tests are items too." }),
    checks: z.array(check).min(1).max(20),
    min_pass_rate: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .meta({ description: 'The part of the items that must pass for the evaluation to pass.' }),
    concurrency: z.int().min(1).max(20).default(4),
    budget_usd: evaluationBudget.meta({ description: 'No request is made whose worst case would exceed it.' }),
    key: keyHash.optional().meta({ description: 'The key that pays; the one that asks when absent.' }),
    name: shownName(200).optional(),
    dry_run: z.boolean().default(false).meta({ description: 'Answer with what the evaluation may cost, without running it.' }),
  })
  .refine(({ items, from_tests }) => items !== undefined || from_tests, { path: ['items'], message: 'Give items, or from_tests.' })
  .refine(({ checks, baseline }) => !checks.some(({ type }) => type === 'pairwise') || (baseline ?? null) !== null, {
    path: ['baseline'],
    message: 'A pairwise check needs a baseline.',
  })
  .meta({
    id: 'EvaluationBody',
    examples: [
      {
        version: 4,
        baseline: 3,
        items: [{ messages: [{ role: 'user', content: 'How do I reset my password?' }], expected: 'Settings' }],
        checks: [{ type: 'contains' }, { type: 'latency', max_ms: 5000 }],
        budget_usd: 1,
      },
    ],
  })

export const evaluationResume = z
  .strictObject({
    budget_usd: evaluationBudget.meta({ description: 'What it may spend from its beginning on; as before when absent.' }),
  })
  .prefault({})
  .meta({ id: 'EvaluationResumeBody', examples: [{ budget_usd: 2 }] })

export const evaluationId = z.uuid().meta({ description: 'Id of an evaluation.' })

const EVALUATION_STATES = ['running', 'done', 'stopped', 'cancelled'] as const

const checkResult = z
  .object({ type: z.string(), passed: z.boolean(), score: z.number().nullable(), reason: z.string().nullable() })
  .meta({ id: 'EvaluationCheckResult' })

const outcome = z
  .object({
    text: z.string().nullable(),
    calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
    generation_id: z.string().nullable(),
    error: z.object({ type: z.string(), message: z.string() }).nullable(),
    cost: z.number(),
    ttft_ms: z.number().nullable(),
    total_ms: z.number(),
    checks: z.array(checkResult),
    passed: z.boolean(),
  })
  .meta({ id: 'EvaluationAnswer', description: 'What a version answered to an item, and what the checks found.' })

const result = z.object({
  position: z.int(),
  state: z.enum(['waiting', 'done']),
  messages: testMessages
    .nullable()
    .meta({ description: 'Null for a recorded request: `GET /generation/content` has it, for as long as it is kept.' }),
  generation_id: z.string().nullable().meta({ description: 'The recorded request that the item repeats.' }),
  expected: jsonValue,
  answer: outcome.nullable(),
  baseline: outcome.nullable(),
})

const interval = z.object({ value: z.number(), low: z.number(), high: z.number() }).meta({ id: 'ConfidenceInterval' })

const sideSummary = z
  .object({
    passed: z.int(),
    failed: z.int(),
    errors: z.int(),
    pass_rate: interval.nullable().meta({ description: 'With the bounds of its 95 % confidence interval (Wilson).' }),
    cost: z.number(),
    cost_per_item: z.number().nullable(),
    total_ms_mean: z.number().nullable(),
    checks: z.array(z.object({ type: z.string(), passed: z.int(), of: z.int() })),
  })
  .meta({ id: 'EvaluatedVersionSummary' })

export const evaluation = z
  .object({
    id: evaluationId,
    preset_slug: z.string(),
    name: z.string().nullable(),
    version: z.int(),
    baseline: z.int().nullable(),
    state: z.enum(EVALUATION_STATES),
    reason: z.string().nullable().meta({ description: 'Why it was stopped.' }),
    passed: z.boolean().nullable().meta({ description: 'Null until it is done.' }),
    min_pass_rate: z.number(),
    items_total: z.int(),
    items_done: z.int(),
    cost: z.number().meta({ description: 'What it has cost by now, judges included.' }),
    budget_usd: z.number().nullable(),
    api_key_hash: z.string().meta({ description: 'The key that pays.' }),
    checks: z.array(check),
    summary: z
      .object({
        version: sideSummary,
        baseline: sideSummary.nullable(),
        difference: interval.nullable().meta({ description: 'Of the pass rates, item by item, with its 95 % confidence interval.' }),
        preference: z.object({ wins: z.int(), losses: z.int(), ties: z.int() }).nullable().meta({ description: 'Of the pairwise checks.' }),
      })
      .meta({ id: 'EvaluationSummary', description: 'Summary of the items that are done.' }),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .meta({ id: 'Evaluation' })

export const evaluationWithItems = evaluation.extend({ items: z.array(result) }).meta({ id: 'EvaluationWithItems' })

const compared = result.pick({ messages: true, generation_id: true, expected: true, answer: true }).extend({
  other_answer: outcome.nullable(),
  change: z.enum(['better', 'worse', 'same']).nullable().meta({ description: 'Null where one of the two has no answer to the item.' }),
})

export const evaluationComparison = z
  .object({
    evaluation,
    other: evaluation,
    difference: interval.nullable().meta({
      description: 'Of the pass rates of items that both answered, with its 95 % confidence interval: above 0 the first one is better.',
    }),
    better: z.int().meta({ description: 'Items that it passes and the other one does not.' }),
    worse: z.int(),
    same: z.int(),
    items: z.array(compared),
  })
  .meta({ id: 'EvaluationComparison' })

export const evaluationEstimate = z
  .object({
    dry_run: z.literal(true),
    items: z.int(),
    requests: z.int().meta({ description: 'Of the versions; judges come on top.' }),
    judge_requests: z.int(),
    min_usd: z.number().nullable().meta({ description: 'Judges included; null where a price is not known.' }),
    max_usd: z.number().nullable().meta({ description: 'If every answer of each version and judge is as long as it may be.' }),
  })
  .meta({ id: 'EvaluationEstimate' })

export type EvaluationBody = z.output<typeof evaluationBody>
export type EvaluationResume = z.output<typeof evaluationResume>
export type Check = z.output<typeof check>
export type Outcome = z.output<typeof outcome>
export type EvaluationState = (typeof EVALUATION_STATES)[number]
export type RecordedSelection = z.output<typeof recorded>
export interface GivenItem {
  readonly messages: z.output<typeof testMessages>
  readonly tools: readonly Readonly<Record<string, z.core.util.JSONType>>[] | null
  readonly expected: z.core.util.JSONType
}
/** A recorded request whose contents are kept. It is referenced and not copied, so deleting the request also deletes it here. */
export interface RecordedItem {
  readonly generationId: string
  readonly expectsAnswer: boolean
}
export type EvaluationItem = GivenItem | RecordedItem
export type EvaluationResult = z.output<typeof result>
export type EvaluationResource = z.output<typeof evaluation>
export type EvaluationComparison = z.output<typeof evaluationComparison>
export type EvaluationEstimate = z.output<typeof evaluationEstimate>
