/** Evaluations as the management API offers them: start, estimate, read, cancel. */
import type {
  EvaluationBody,
  EvaluationComparison,
  EvaluationEstimate,
  EvaluationItem,
  EvaluationResource,
  EvaluationResult,
  EvaluationResume,
} from '../../contract/evaluation.ts'
import { EVALUATION_ITEMS_MAX } from '../../contract/evaluation-items.ts'
import type { Slice } from '../../contract/paging.ts'
import { GatewayError } from '../../errors.ts'
import type { Principal } from '../../keys/principal.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import { isObject } from '../../lib/json/json.ts'
import { dollars, nanosOf } from '../../lib/money.ts'
import { throughout } from '../../lib/steps.ts'
import { type Presets, unknownPreset } from '../../presets/presets.ts'
import type { ChangedBy } from '../../storage/changes/audit-log.ts'
import type { GenerationList } from '../../storage/generations/generation-list.ts'
import type { StoredItem } from '../../storage/presets/evaluation-items.ts'
import type { EvaluationStore, StoredEvaluation } from '../../storage/presets/evaluation-store.ts'
import { mapOnce, type Once } from '../../storage/changes/idempotency.ts'
import type { Page } from '../../storage/statements/page.ts'
import type { PresetRef } from '../../storage/presets/preset-ref.ts'
import type { PresetTestStore } from '../../storage/presets/preset-test-store.ts'
import { type OwnBody, ownReceived } from '../own-request.ts'
import type { Pipeline } from '../pipeline.ts'
import { Refused } from '../refused.ts'
import { compareItems } from './compare-evaluations.ts'
import { createTurn, type LargeStep } from '../large-steps.ts'
import { estimateEvaluation, type RequestPrice } from './estimate-evaluation.ts'
import { findRecorded } from './find-recorded.ts'
import { type ReadItem, shownItem } from './item-request.ts'
import { requireJudges, requirePassable } from './require-passable.ts'
import { summaryOf } from './summary.ts'

export type EvaluationDetails = EvaluationResource & { readonly items: readonly EvaluationResult[] }
export type EvaluationRow = Omit<EvaluationResource, 'summary' | 'items_done'>

export interface Evaluations {
  /** Starts an evaluation, which then runs in the background. Throws `not_found` and `invalid_request`. */
  start(
    preset: PresetRef,
    body: EvaluationBody,
    payer: Principal,
    by: ChangedBy,
    once?: Once<EvaluationDetails>,
  ): Promise<EvaluationDetails>
  /** The evaluation as it was when it began. Throws `not_found`. */
  begun(preset: PresetRef, evaluation: EvaluationResource): Promise<EvaluationDetails>
  estimate(preset: PresetRef, body: EvaluationBody, payer: Principal): Promise<EvaluationEstimate>
  list(preset: PresetRef, slice: Slice): Promise<Page<EvaluationRow>>
  /** These methods throw `not_found`. */
  get(preset: PresetRef, id: string): Promise<EvaluationDetails>
  compare(preset: PresetRef, id: string, other: string): Promise<EvaluationComparison>
  cancel(preset: PresetRef, id: string, by: ChangedBy): Promise<EvaluationDetails>
  /** Continues a stopped or cancelled evaluation with the remaining items. Throws `invalid_request` if it is done. */
  resume(preset: PresetRef, id: string, body: EvaluationResume, by: ChangedBy): Promise<EvaluationDetails>
  delete(preset: PresetRef, id: string, by: ChangedBy): Promise<void>
}

export interface EvaluationsParts {
  readonly store: EvaluationStore
  readonly tests: PresetTestStore
  readonly presets: Pick<Presets, 'version'>
  readonly generations: {
    readonly list: Pick<GenerationList, 'page' | 'presetIds'>
    /** Resolves when everything answered before is stored, with its contents. */
    readonly flush: () => Promise<void>
  }
  readonly readItem: ReadItem
  readonly pipeline: Pick<Pipeline, 'dryRun'>
  readonly largeStep: LargeStep
  readonly clock: Clock
  readonly ids: IdSource
}

export const createEvaluations = ({
  store,
  tests,
  presets,
  generations,
  readItem,
  pipeline,
  largeStep,
  clock,
  ids,
}: EvaluationsParts): Evaluations => {
  const now = (): string => isoTimestamp(clock.now())

  const itemsOf = async (preset: PresetRef, body: EvaluationBody): Promise<readonly EvaluationItem[]> => {
    await presets.version(preset.workspaceId, preset.slug, body.version)
    if (typeof body.baseline === 'number') await presets.version(preset.workspaceId, preset.slug, body.baseline)
    const given = await givenItems(preset, body)
    const saved = body.from_tests ? ((await tests.list(preset)) ?? []) : []
    const items = [...given, ...saved.map(({ messages, tools, expected }) => ({ messages, tools, expected }))]
    if (items.length === 0)
      throw new GatewayError(
        'invalid_request',
        'items: nothing was found to run. Send items, save tests of the preset, or keep the contents of its requests.',
      )
    if (items.length > EVALUATION_ITEMS_MAX)
      throw new GatewayError(
        'invalid_request',
        `items: an evaluation runs at most ${EVALUATION_ITEMS_MAX} items, those of saved tests among them. Send fewer.`,
      )
    return items
  }

  const givenItems = async (preset: PresetRef, { items = [] }: EvaluationBody): Promise<readonly EvaluationItem[]> => {
    if (Array.isArray(items)) return items.map(({ messages, tools = null, expected = null }) => ({ messages, tools, expected }))
    await generations.flush()
    return findRecorded(preset, items, generations.list, clock.now())
  }

  const find = async (preset: PresetRef, id: string): Promise<StoredEvaluation> => {
    const found = await store.get(preset, id)
    if (found === null) throw unknownEvaluation()
    return found
  }

  const details = async (evaluation: StoredEvaluation): Promise<EvaluationDetails> =>
    detailsOf(evaluation, await store.items(evaluation.id))

  return {
    async start(preset, body, payer, by, once) {
      const items = await itemsOf(preset, body)
      // An estimate is asked for while a form is still being filled in.
      requirePassable(items, body)
      await requireJudges(body.checks, (request) => priceOf(pipeline, payer, request))
      const evaluation: StoredEvaluation = {
        id: ids.uuid(),
        ...preset,
        state: 'running',
        keyHash: payer.hash,
        spec: {
          name: body.name ?? null,
          version: body.version,
          baseline: body.baseline ?? null,
          checks: body.checks,
          minPassRate: body.min_pass_rate,
          concurrency: body.concurrency,
          budgetNanos: body.budget_usd === undefined ? null : nanosOf(body.budget_usd),
        },
        itemsTotal: items.length,
        costNanos: 0,
        passed: null,
        reason: null,
        createdAt: now(),
        endedAt: null,
      }
      const started = detailsOf(
        evaluation,
        items.map((item, position) => ({ position, item, result: null, answers: {} })),
      )
      const created = await store.create(
        evaluation,
        items,
        by,
        mapOnce(once, () => started),
      )
      if (created === 'no-such-preset') return unknownPreset(preset.slug)
      return started
    },
    async begun(preset, evaluation) {
      await find(preset, evaluation.id)
      const items = await store.items(evaluation.id)
      return { ...evaluation, items: items.map(({ position, item }) => resultOf({ position, item, result: null })) }
    },
    async estimate(preset, body, payer) {
      const items = await itemsOf(preset, body)
      return estimateEvaluation(preset, items, body, {
        readItem,
        priceOf: (request) => priceOf(pipeline, payer, request),
        turn: createTurn(clock, largeStep),
      })
    },
    async list(preset, slice) {
      const page = await store.list(preset, slice)
      if (page === null) return unknownPreset(preset.slug)
      return { items: page.items.map(rowOf), totalCount: page.totalCount }
    },
    get: async (preset, id) => details(await find(preset, id)),
    async compare(preset, id, other) {
      const one = await find(preset, id)
      const two = await find(preset, other)
      const items = await store.items(one.id)
      const others = await store.items(two.id)
      return {
        evaluation: { ...rowOf(one), ...progressOf(one, items) },
        other: { ...rowOf(two), ...progressOf(two, others) },
        ...(await throughout(compareItems(items, others), createTurn(clock, largeStep))),
      }
    },
    async cancel(preset, id, by) {
      const evaluation = await find(preset, id)
      await store.end(evaluation, { state: 'cancelled', passed: null, reason: null }, { by, now: now() })
      return details(await find(preset, id))
    },
    async resume(preset, id, { budget_usd: budgetUsd }, by) {
      const { spec, ...evaluation } = await find(preset, id)
      if (evaluation.state === 'done') {
        throw new GatewayError('invalid_request', 'This evaluation is done: all its items were run. Start another one.')
      }
      const budgetNanos = budgetUsd === undefined ? spec.budgetNanos : nanosOf(budgetUsd)
      await store.resume({ ...evaluation, spec: { ...spec, budgetNanos } }, { by, now: now() })
      return details(await find(preset, id))
    },
    async delete(preset, id, by) {
      if (!(await store.delete(preset, id, { by, now: now() }))) throw unknownEvaluation()
    },
  }
}

const progressOf = ({ spec }: StoredEvaluation, items: readonly StoredItem[]): Pick<EvaluationResource, 'items_done' | 'summary'> => {
  const results = items.flatMap(({ result }) => result ?? [])
  return { items_done: results.length, summary: summaryOf(results, spec.checks) }
}

const unknownEvaluation = (): GatewayError => new GatewayError('not_found', 'The preset has no evaluation of this id.')

const rowOf = ({ spec, ...evaluation }: StoredEvaluation): EvaluationRow => ({
  id: evaluation.id,
  preset_slug: evaluation.slug,
  name: spec.name,
  version: spec.version,
  baseline: spec.baseline,
  state: evaluation.state,
  reason: evaluation.reason,
  passed: evaluation.passed,
  min_pass_rate: spec.minPassRate,
  items_total: evaluation.itemsTotal,
  cost: dollars(evaluation.costNanos),
  budget_usd: spec.budgetNanos === null ? null : dollars(spec.budgetNanos),
  api_key_hash: evaluation.keyHash,
  checks: [...spec.checks],
  created_at: evaluation.createdAt,
  ended_at: evaluation.endedAt,
})

/** The possible cost of a request in dollars. Throws the error with which the request itself would be refused. */
export const priceOf = async (pipeline: Pick<Pipeline, 'dryRun'>, principal: Principal, request: OwnBody): Promise<RequestPrice> => {
  const shown = await pipeline.dryRun(ownReceived({ ...request, principal, requestId: '', origin: 'evaluation' }))
  if (shown instanceof Refused) throw shown.error
  const estimate = shown['cost_estimate']
  const amount = (name: string): number | null => {
    const value = isObject(estimate) ? estimate[name] : null
    return typeof value === 'number' ? value : null
  }
  return { min: amount('min_usd'), max: amount('max_usd'), outputTokens: amount('max_output_tokens') }
}

const detailsOf = (evaluation: StoredEvaluation, items: readonly StoredItem[]): EvaluationDetails => ({
  ...rowOf(evaluation),
  ...progressOf(evaluation, items),
  items: items.map(resultOf),
})

const resultOf = ({ position, item, result }: Pick<StoredItem, 'position' | 'item' | 'result'>): EvaluationResult => ({
  position,
  state: result === null ? 'waiting' : 'done',
  ...shownItem(item),
  answer: result?.answer ?? null,
  baseline: result?.baseline ?? null,
})
