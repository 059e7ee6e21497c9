/** Evaluations as the management API has them: asked for, estimated, read, cancelled. */
import type { EvaluationBody, EvaluationEstimate, EvaluationItem, EvaluationResource, EvaluationResult } from '../../contract/evaluation.ts'
import { EVALUATION_ITEMS_MAX } from '../../contract/evaluation.ts'
import type { Slice } from '../../contract/paging.ts'
import { GatewayError } from '../../errors.ts'
import type { Principal } from '../../keys/keys.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { dollars, nanosOf } from '../../lib/money.ts'
import type { Presets } from '../../presets/presets.ts'
import type { ChangedBy } from '../../storage/audit-log.ts'
import type { EvaluationStore, StoredEvaluation } from '../../storage/evaluation-store.ts'
import type { Page } from '../../storage/page.ts'
import type { PresetRef, PresetTestStore } from '../../storage/preset-test-store.ts'
import { ownReceived } from '../own-request.ts'
import type { Pipeline } from '../pipeline.ts'
import { Refused } from '../refused.ts'
import { bodyFor } from './run-item.ts'
import { summaryOf } from './summary.ts'

export type EvaluationDetails = EvaluationResource & { readonly items: readonly EvaluationResult[] }
export type EvaluationRow = Omit<EvaluationResource, 'summary' | 'items_done'>

export interface Evaluations {
  /** It runs from now on. Throws `not_found` and `invalid_request`. */
  start(preset: PresetRef, body: EvaluationBody, payer: Principal, by: ChangedBy): Promise<EvaluationDetails>
  estimate(preset: PresetRef, body: EvaluationBody, payer: Principal): Promise<EvaluationEstimate>
  list(preset: PresetRef, slice: Slice): Promise<Page<EvaluationRow>>
  /** These throw `not_found`. */
  get(preset: PresetRef, id: string): Promise<EvaluationDetails>
  cancel(preset: PresetRef, id: string, by: ChangedBy): Promise<EvaluationDetails>
  delete(preset: PresetRef, id: string, by: ChangedBy): Promise<void>
}

export interface EvaluationsParts {
  readonly store: EvaluationStore
  readonly tests: PresetTestStore
  readonly presets: Pick<Presets, 'version'>
  readonly pipeline: Pick<Pipeline, 'dryRun'>
  readonly clock: Clock
  readonly ids: IdSource
}

export const createEvaluations = ({ store, tests, presets, pipeline, clock, ids }: EvaluationsParts): Evaluations => {
  const now = (): string => isoTimestamp(clock.now())

  const itemsOf = async (preset: PresetRef, body: EvaluationBody): Promise<readonly EvaluationItem[]> => {
    await presets.version(preset.workspaceId, preset.slug, body.version)
    if (typeof body.baseline === 'number') await presets.version(preset.workspaceId, preset.slug, body.baseline)
    const given = (body.items ?? []).map(({ messages, tools = null, expected = null }) => ({ messages, tools, expected }))
    const saved = body.from_tests ? ((await tests.list(preset)) ?? []) : []
    const items = [...given, ...saved.map(({ messages, tools, expected }) => ({ messages, tools, expected }))]
    if (items.length === 0) throw new GatewayError('invalid_request', 'items: the preset has no saved tests.')
    if (items.length > EVALUATION_ITEMS_MAX)
      throw new GatewayError('invalid_request', `items: there are more than ${EVALUATION_ITEMS_MAX}.`)
    return items
  }

  const find = async (preset: PresetRef, id: string): Promise<StoredEvaluation> => {
    const found = await store.get(preset, id)
    if (found === null) throw unknownEvaluation()
    return found
  }

  const details = async (evaluation: StoredEvaluation): Promise<EvaluationDetails> => {
    const items = await store.items(evaluation.id)
    const results = items.flatMap(({ result }) => result ?? [])
    return {
      ...rowOf(evaluation),
      items_done: results.length,
      summary: summaryOf(results, evaluation.spec.checks),
      items: items.map(({ position, item, result }) => ({
        position,
        state: result === null ? 'waiting' : 'done',
        messages: item.messages,
        expected: item.expected,
        answer: result?.answer ?? null,
        baseline: result?.baseline ?? null,
      })),
    }
  }

  return {
    async start(preset, body, payer, by) {
      const items = await itemsOf(preset, body)
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
      if ((await store.create(evaluation, items, by)) === 'no-such-preset') {
        throw new GatewayError('not_found', `There is no preset "${preset.slug}".`)
      }
      return details(evaluation)
    },
    async estimate(preset, body, payer) {
      const items = await itemsOf(preset, body)
      const versions = typeof body.baseline === 'number' ? [body.version, body.baseline] : [body.version]
      let [least, most]: [number | null, number | null] = [0, 0]
      for (const item of items) {
        for (const version of versions) {
          const { min, max } = await estimateOf(pipeline, payer, bodyFor(preset.slug, version, item))
          least = least === null || min === null ? null : least + min
          most = most === null || max === null ? null : most + max
        }
      }
      const judges = body.checks.reduce((sum, { type }) => sum + (type === 'judge' ? versions.length : type === 'pairwise' ? 2 : 0), 0)
      return {
        dry_run: true,
        items: items.length,
        requests: items.length * versions.length,
        judge_requests: items.length * judges,
        min_usd: least,
        max_usd: most,
      }
    },
    async list(preset, slice) {
      const page = await store.list(preset, slice)
      if (page === null) throw new GatewayError('not_found', `There is no preset "${preset.slug}".`)
      return { items: page.items.map(rowOf), totalCount: page.totalCount }
    },
    get: async (preset, id) => details(await find(preset, id)),
    async cancel(preset, id, by) {
      const evaluation = await find(preset, id)
      await store.end(evaluation, { state: 'cancelled', passed: null, reason: null }, now(), by)
      return details(await find(preset, id))
    },
    async delete(preset, id, by) {
      if (!(await store.delete(preset, id, now(), by))) throw unknownEvaluation()
    },
  }
}

const unknownEvaluation = (): GatewayError => new GatewayError('not_found', 'The preset has no evaluation of this id.')

const rowOf = ({
  id,
  slug,
  spec,
  state,
  reason,
  passed,
  itemsTotal,
  costNanos,
  keyHash,
  createdAt,
  endedAt,
}: StoredEvaluation): EvaluationRow => ({
  id,
  preset_slug: slug,
  name: spec.name,
  version: spec.version,
  baseline: spec.baseline,
  state,
  reason,
  passed,
  min_pass_rate: spec.minPassRate,
  items_total: itemsTotal,
  cost: dollars(costNanos),
  budget_usd: spec.budgetNanos === null ? null : dollars(spec.budgetNanos),
  api_key_hash: keyHash,
  checks: [...spec.checks],
  created_at: createdAt,
  ended_at: endedAt,
})

/** What a request of this body may cost, in dollars. Throws what the request itself would be refused with. */
export const estimateOf = async (
  pipeline: Pick<Pipeline, 'dryRun'>,
  principal: Principal,
  body: JsonObject,
): Promise<{ min: number | null; max: number | null }> => {
  const shown = await pipeline.dryRun(ownReceived(principal, body, '', 'evaluation'))
  if (shown instanceof Refused) throw shown.error
  const estimate = shown['cost_estimate']
  const amount = (name: string): number | null => {
    const value = isObject(estimate) ? estimate[name] : null
    return typeof value === 'number' ? value : null
  }
  return { min: amount('min_usd'), max: amount('max_usd') }
}
