/** Evaluations and their items. What people wrote and models answered is stored sealed. */
import { type Insertable, type Selectable, sql, type Transaction } from 'kysely'

import type { EvaluationItem, EvaluationState, Outcome, Check } from '../../contract/evaluation.ts'
import type { Slice } from '../../contract/paging.ts'
import { dollars } from '../../lib/money.ts'
import { type Steps, throughout } from '../../lib/steps.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../audit-log.ts'
import { lackedMoney, lackedTools } from '../ledger/ended-by-budget.ts'
import type { Once } from '../idempotency.ts'
import { type Page, readPage } from '../page.ts'
import { auditOf, presetIdOf, type PresetRef } from './preset-ref.ts'
import type { ReadDatabase } from './preset-rows.ts'
import type { EvaluationItemsTable, EvaluationsTable } from '../tables/evaluation-tables.ts'
import { rowGroups } from '../row-groups.ts'
import type { Schema } from '../tables/schema.ts'
import { openJson, sealJson } from '../sealed-json.ts'

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

/** The result of one request that was made for an item. */
export interface KeptAnswer {
  readonly generationId: string | null
  readonly error: { readonly type: string; readonly message: string } | null
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
  readonly costNanos: number
  readonly ttftMs: number | null
  readonly totalMs: number
}

/** By the name of the request within its item. */
export type KeptAnswers = Readonly<Record<string, KeptAnswer>>

export interface ItemResult {
  readonly answer: Outcome
  readonly baseline: Outcome | null
  readonly preference: 'win' | 'loss' | 'tie' | null
}

export interface StoredItem {
  readonly position: number
  readonly item: EvaluationItem
  /** Null until it is done. */
  readonly result: ItemResult | null
  /** The answers that were paid for so far. */
  readonly answers: KeptAnswers
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

export const createEvaluationStore = ({ database, seal, startTurn }: ReadDatabase): EvaluationStore => {
  const toEvaluation = (row: Selectable<EvaluationsTable>): StoredEvaluation => ({
    id: row.id,
    workspaceId: row.workspace_id,
    slug: row.preset_slug,
    state: row.state,
    keyHash: row.key_hash,
    spec: JSON.parse(seal.open(row.sealed_spec, `evaluation ${row.id}`)) as EvaluationSpec,
    itemsTotal: row.items_total,
    costNanos: row.cost_nanos,
    passed: row.passed === null ? null : row.passed === 1,
    reason: row.reason,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  })
  const itemContext = (id: string, position: number, part: 'item' | 'result'): string => `evaluation-${part} ${id} ${position}`
  /** An answer may be megabytes long. */
  const sealedProgress = async (id: string, position: number, progress: Progress): Promise<string> =>
    throughout(sealJson(progress, itemContext(id, position, 'result'), seal), startTurn())
  const writeProgress = async (transaction: Transaction<Schema>, id: string, position: number, sealed: string): Promise<void> => {
    await transaction
      .updateTable('evaluation_items')
      .set({ sealed_result: sealed })
      .where('evaluation_id', '=', id)
      .where('position', '=', position)
      .execute()
  }
  /** All items together may be as long as a request body. */
  function* sealedRows(id: string, items: readonly EvaluationItem[]): Steps<Insertable<EvaluationItemsTable>[]> {
    const rows: Insertable<EvaluationItemsTable>[] = []
    for (const [position, item] of items.entries()) {
      const sealed = yield* sealJson(item, itemContext(id, position, 'item'), seal)
      rows.push({ evaluation_id: id, position, sealed_item: sealed, sealed_result: null })
      yield
    }
    return rows
  }
  function* openedItems(id: string, rows: readonly Selectable<EvaluationItemsTable>[]): Steps<StoredItem[]> {
    const items: StoredItem[] = []
    for (const { position, sealed_item, sealed_result } of rows) {
      const item = (yield* openJson(sealed_item, itemContext(id, position, 'item'), seal)) as unknown as EvaluationItem
      const progress = sealed_result === null ? null : yield* openJson(sealed_result, itemContext(id, position, 'result'), seal)
      items.push({ position, item, ...((progress ?? NOTHING_YET) as unknown as Progress) })
      yield
    }
    return items
  }
  const inPreset = ({ workspaceId, slug }: PresetRef) =>
    database.kysely.selectFrom('evaluations').where('workspace_id', '=', workspaceId).where('preset_slug', '=', slug)

  return {
    async create(evaluation, items, by, once) {
      const turn = startTurn()
      const rows = await throughout(sealedRows(evaluation.id, items), turn)
      const insert = async (transaction: Transaction<Schema>): Promise<{ result: Created; audit: AuditedChange | null }> => {
        const { id, workspaceId, slug } = evaluation
        const presetId = await presetIdOf(transaction, evaluation)
        if (presetId === null) return { result: 'no-such-preset', audit: null }
        await transaction
          .insertInto('evaluations')
          .values({
            id,
            workspace_id: workspaceId,
            preset_id: presetId,
            preset_slug: slug,
            state: evaluation.state,
            key_hash: evaluation.keyHash,
            sealed_spec: seal.seal(JSON.stringify(evaluation.spec), `evaluation ${id}`),
            version: evaluation.spec.version,
            items_total: items.length,
            cost_nanos: 0,
            passed: null,
            reason: null,
            held_by: null,
            held_until: null,
            created_at: evaluation.createdAt,
            ended_at: null,
          })
          .execute()
        for (const group of rowGroups(rows, ({ sealed_item }) => sealed_item.length)) {
          await transaction.insertInto('evaluation_items').values(group).execute()
          await turn()
        }
        const { version, baseline } = evaluation.spec
        // Answers can repeat what is read, so the entry names it: the evaluation itself may be deleted.
        const read = items.flatMap((item) => ('generationId' in item ? [item.generationId] : []))
        return {
          result: 'created',
          audit: {
            ...auditOf(evaluation, 'evaluation_started'),
            before: null,
            after: {
              evaluation_id: id,
              version,
              baseline,
              items: items.length,
              recorded: read.length,
              ...(read.length === 0 ? {} : { generation_ids: read }),
            },
          },
        }
      }
      return recordChange(database, { by, now: evaluation.createdAt, once }, insert)
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

    async items(id) {
      const turn = startTurn()
      const sizes = await database.kysely
        .selectFrom('evaluation_items')
        .select(['position', sql<number | string>`octet_length(sealed_item) + coalesce(octet_length(sealed_result), 0)`.as('bytes')])
        .where('evaluation_id', '=', id)
        .orderBy('position')
        .execute()
      const items: StoredItem[] = []
      for (const group of rowGroups(sizes, ({ bytes }) => Number(bytes))) {
        const rows = await database.kysely
          .selectFrom('evaluation_items')
          .selectAll()
          .where('evaluation_id', '=', id)
          // Positions have no gaps.
          .where('position', '>=', group[0].position)
          .where('position', '<', group[0].position + group.length)
          .orderBy('position')
          .execute()
        await turn()
        items.push(...(await throughout(openedItems(id, rows), turn)))
      }
      return items
    },

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
          .set({ state: 'running', reason: null, ended_at: null, sealed_spec: seal.seal(JSON.stringify(spec), `evaluation ${id}`) })
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

    async keepAnswers(id, position, answers, costNanos) {
      const sealed = await sealedProgress(id, position, { result: null, answers })
      await database.transaction(async (transaction) => {
        await writeProgress(transaction, id, position, sealed)
        await transaction
          .updateTable('evaluations')
          .set((eb) => ({ cost_nanos: eb('cost_nanos', '+', costNanos) }))
          .where('id', '=', id)
          .execute()
      })
    },

    async finishItem(id, position, result) {
      const sealed = await sealedProgress(id, position, { result, answers: {} })
      await database.transaction((transaction) => writeProgress(transaction, id, position, sealed))
    },

    end: (evaluation, { state, passed, reason }, change) =>
      recordChange<boolean>(database, change, async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('evaluations')
          .set({ state, passed: passed === null ? null : passed ? 1 : 0, reason, ended_at: change.now })
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

type Progress = Pick<StoredItem, 'result' | 'answers'>

const NOTHING_YET: Progress = { result: null, answers: {} }
