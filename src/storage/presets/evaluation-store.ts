/** Evaluations: which versions run over which items, who runs them, and how they end. */
import { type Selectable, sql } from 'kysely'

import type { Check, EvaluationItem, EvaluationState } from '../../contract/evaluation.ts'
import type { Slice } from '../../contract/paging.ts'
import { dollars } from '../../lib/money.ts'
import { throughout } from '../../lib/steps.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import { readStored } from '../rows/damaged-row.ts'
import { lackedMoney, lackedTools } from '../ledger/ended-by-budget.ts'
import type { Once } from '../changes/idempotency.ts'
import { type Page, readPage } from '../statements/page.ts'
import { flag } from '../statements/sql-values.ts'
import { finishItem, type ItemResult, keepAnswers, type KeptAnswers, readItems, sealItems, type StoredItem } from './evaluation-items.ts'
import { auditOf, presetIdOf, type PresetRef } from './preset-ref.ts'
import type { ReadDatabase } from './preset-rows.ts'
import type { TextSeal } from '../rows/seal.ts'
import type { EvaluationsTable } from '../tables/evaluation-tables.ts'
import { rowGroups } from '../rows/row-groups.ts'

/** The versions to run, and the rules for them. */
export interface EvaluationSpec {
  readonly name: string | null
  readonly version: number
  readonly baseline: number | null
  readonly checks: readonly Check[]
  readonly minPassRate: number
  readonly concurrency: number
  readonly budgetNanos: number | null
}

export interface StoredEvaluation extends PresetRef {
  readonly id: string
  readonly state: EvaluationState
  readonly keyHash: string
  readonly spec: EvaluationSpec
  readonly itemsTotal: number
  readonly costNanos: number
  readonly passed: boolean | null
  readonly reason: string | null
  readonly createdAt: string
  readonly endedAt: string | null
}

export interface EvaluationEnd {
  readonly state: Exclude<EvaluationState, 'running'>
  readonly passed: boolean | null
  readonly reason: string | null
}

export interface PaidRequests {
  /** Nano-dollars by request id, for requests that got an answer. */
  readonly answered: ReadonlyMap<string, number>
  /** Nano-dollars for requests that were cut short and have no answer. */
  readonly cutShortNanos: number
}

type Created = 'created' | 'no-such-preset'

export interface EvaluationStore {
  create(evaluation: StoredEvaluation, items: readonly EvaluationItem[], by: ChangedBy, once?: Once<Created>): Promise<Created>
  /** Newest first; null if there is no such preset. */
  list(preset: PresetRef, slice: Slice): Promise<Page<StoredEvaluation> | null>
  get(preset: PresetRef, id: string): Promise<StoredEvaluation | null>
  items(id: string): Promise<readonly StoredItem[]>
  /** Deletes the evaluation with all its results. False if there is none of this id. */
  delete(preset: PresetRef, id: string, change: Change): Promise<boolean>
  /** Takes a running evaluation that nobody holds at `now`; `holder` then holds it until `until`. */
  take(holder: string, now: string, until: string): Promise<StoredEvaluation | null>
  /** False if another process holds it, or it is no longer running. */
  hold(id: string, holder: string, until: string): Promise<boolean>
  /** Stores all answers so far, and adds the cost of the newest one. */
  keepAnswers(id: string, position: number, answers: KeptAnswers, costNanos: number): Promise<void>
  finishItem(id: string, position: number, result: ItemResult): Promise<void>
  /** This holder no longer works on it, so another one need not wait until the hold expires. */
  release(id: string, holder: string): Promise<void>
  /**
   * Runs a stopped or cancelled evaluation again, with the given spec. A current holder keeps it: a process that has not noticed the end
   * goes on, and no item is run twice at once. False if it is neither stopped nor cancelled.
   */
  resume(evaluation: StoredEvaluation, change: Change): Promise<boolean>
  /** False if it had already ended. */
  end(evaluation: Pick<StoredEvaluation, 'id' | 'workspaceId' | 'slug'>, end: EvaluationEnd, change: Change): Promise<boolean>
  /** The cost of the requests whose ids begin with the prefix. */
  paid(requestIdPrefix: string): Promise<PaidRequests>
}

export const createEvaluationStore = (sealed: ReadDatabase): EvaluationStore => {
  const { database, seal, startTurn } = sealed
  const toEvaluation = (row: Selectable<EvaluationsTable>): StoredEvaluation => ({
    id: row.id,
    workspaceId: row.workspace_id,
    slug: row.preset_slug,
    state: row.state,
    keyHash: row.key_hash,
    spec: readStored('evaluations', row.id, () => JSON.parse(seal.open(row.sealed_spec, contextOf(row.id))) as EvaluationSpec),
    itemsTotal: row.items_total,
    costNanos: row.cost_nanos,
    passed: row.passed === null ? null : row.passed === 1,
    reason: row.reason,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  })
  const inPreset = ({ workspaceId, slug }: PresetRef) =>
    database.kysely.selectFrom('evaluations').where('workspace_id', '=', workspaceId).where('preset_slug', '=', slug)

  return {
    async create(evaluation, items, by, once) {
      const turn = startTurn()
      const rows = await throughout(sealItems(evaluation.id, items, seal), turn)
      return recordChange<Created>(database, { by, now: evaluation.createdAt, once }, async (transaction) => {
        const presetId = await presetIdOf(transaction, evaluation)
        if (presetId === null) return { result: 'no-such-preset', audit: null }
        await transaction
          .insertInto('evaluations')
          .values(newRow(evaluation, presetId, seal))
          .execute()
        for (const group of rowGroups(rows, ({ sealed_item }) => sealed_item.length)) {
          await transaction.insertInto('evaluation_items').values(group).execute()
          await turn()
        }
        return { result: 'created', audit: started(evaluation, items) }
      })
    },

    async list(ref, slice) {
      const presetId = await presetIdOf(database.kysely, ref)
      if (presetId === null) return null
      const sorted = database.kysely
        .selectFrom('evaluations')
        .selectAll()
        .where('preset_id', '=', presetId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
      return readPage(sorted, slice, toEvaluation)
    },

    async get(ref, id) {
      const row = await inPreset(ref).selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? null : toEvaluation(row)
    },

    items: (id) => readItems(sealed, id),

    delete: (ref, id, change) =>
      recordChange<boolean>(database, change, async (transaction) => {
        const row = await transaction
          .selectFrom('evaluations')
          .select('id')
          .where('workspace_id', '=', ref.workspaceId)
          .where('preset_slug', '=', ref.slug)
          .where('id', '=', id)
          .executeTakeFirst()
        if (row === undefined) return { result: false, audit: null }
        await transaction.deleteFrom('evaluation_items').where('evaluation_id', '=', id).execute()
        await transaction.deleteFrom('evaluations').where('id', '=', id).execute()
        return { result: true, audit: { ...auditOf(ref, 'evaluation_deleted'), before: { evaluation_id: id }, after: null } }
      }),

    async take(holder, now, until) {
      const free = await database.kysely
        .selectFrom('evaluations')
        .select('id')
        .where('state', '=', 'running')
        .where((eb) => eb.or([eb('held_until', 'is', null), eb('held_until', '<', now)]))
        .orderBy('created_at')
        .limit(1)
        .executeTakeFirst()
      if (free === undefined) return null
      const taken = await database.transaction(
        (transaction) =>
          transaction
            .updateTable('evaluations')
            .set({ held_by: holder, held_until: until })
            .where('id', '=', free.id)
            .where('state', '=', 'running')
            .where((eb) => eb.or([eb('held_until', 'is', null), eb('held_until', '<', now)]))
            .returningAll()
            .executeTakeFirst(),
        'process',
      )
      return taken === undefined ? null : toEvaluation(taken)
    },

    hold: (id, holder, until) =>
      database.transaction(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('evaluations')
          .set({ held_until: until })
          .where('id', '=', id)
          .where('held_by', '=', holder)
          .where('state', '=', 'running')
          .executeTakeFirstOrThrow()
        return Number(numUpdatedRows) === 1
      }, 'process'),

    release: (id, holder) =>
      database.transaction(async (transaction) => {
        await transaction.updateTable('evaluations').set({ held_until: null }).where('id', '=', id).where('held_by', '=', holder).execute()
      }, 'process'),

    resume: (evaluation, change) =>
      recordChange<boolean>(database, change, async (transaction) => {
        const { id, spec } = evaluation
        const { numUpdatedRows } = await transaction
          .updateTable('evaluations')
          .set({ state: 'running', reason: null, ended_at: null, sealed_spec: seal.seal(JSON.stringify(spec), contextOf(id)) })
          .where('id', '=', id)
          .where('state', 'in', ['stopped', 'cancelled'])
          .executeTakeFirstOrThrow()
        if (Number(numUpdatedRows) === 0) return { result: false, audit: null }
        const budget = spec.budgetNanos === null ? null : dollars(spec.budgetNanos)
        return {
          result: true,
          audit: {
            ...auditOf(evaluation, 'evaluation_resumed'),
            before: null,
            after: { evaluation_id: id, budget_usd: budget },
          },
        }
      }),

    keepAnswers: (id, position, answers, costNanos) => keepAnswers(sealed, id, position, answers, costNanos),

    finishItem: (id, position, result) => finishItem(sealed, id, position, result),

    end: (evaluation, { state, passed, reason }, change) =>
      recordChange<boolean>(database, change, async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('evaluations')
          .set({ state, passed: passed === null ? null : flag(passed), reason, ended_at: change.now })
          .where('id', '=', evaluation.id)
          .where('state', '=', 'running')
          .executeTakeFirstOrThrow()
        if (Number(numUpdatedRows) === 0) return { result: false, audit: null }
        return {
          result: true,
          audit: { ...auditOf(evaluation, `evaluation_${state}`), before: null, after: { evaluation_id: evaluation.id, passed, reason } },
        }
      }),

    async paid(prefix) {
      const rows = await database.kysely
        .selectFrom('generations')
        .select(['request_id', 'cost_nanos', 'byok_cost_nanos'])
        .select(sql<number>`case when cancelled = 1 or ${lackedMoney} or ${lackedTools} then 1 else 0 end`.as('cut_short'))
        .where('request_id', '>=', prefix)
        .where('request_id', '<', `${prefix}\u007f`)
        .execute()
      const answered = new Map<string, number>()
      let cutShortNanos = 0
      for (const { request_id, cut_short, cost_nanos, byok_cost_nanos } of rows) {
        const costNanos = cost_nanos + byok_cost_nanos
        if (cut_short === 1) cutShortNanos += costNanos
        else if (request_id !== null && costNanos > 0) answered.set(request_id, costNanos)
      }
      return { answered, cutShortNanos }
    },
  }
}

/** Its items have their own table. */
const newRow = (evaluation: StoredEvaluation, presetId: string, seal: TextSeal): Selectable<EvaluationsTable> => ({
  id: evaluation.id,
  workspace_id: evaluation.workspaceId,
  preset_id: presetId,
  preset_slug: evaluation.slug,
  state: evaluation.state,
  key_hash: evaluation.keyHash,
  sealed_spec: seal.seal(JSON.stringify(evaluation.spec), contextOf(evaluation.id)),
  version: evaluation.spec.version,
  items_total: evaluation.itemsTotal,
  cost_nanos: 0,
  passed: null,
  reason: null,
  held_by: null,
  held_until: null,
  created_at: evaluation.createdAt,
  ended_at: null,
})

/** Answers can repeat what is read, so the entry names it: the evaluation itself may be deleted. */
const started = (evaluation: StoredEvaluation, items: readonly EvaluationItem[]): AuditedChange => {
  const { version, baseline } = evaluation.spec
  const read = items.flatMap((item) => ('generationId' in item ? [item.generationId] : []))
  return {
    ...auditOf(evaluation, 'evaluation_started'),
    before: null,
    after: {
      evaluation_id: evaluation.id,
      version,
      baseline,
      items: items.length,
      recorded: read.length,
      ...(read.length === 0 ? {} : { generation_ids: read }),
    },
  }
}

const contextOf = (id: string): string => `evaluation ${id}`
