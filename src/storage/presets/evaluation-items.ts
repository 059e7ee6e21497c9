/** The items of an evaluation. What people wrote and models answered is stored sealed, and may be megabytes long. */
import { type Insertable, type Selectable, sql, type Transaction } from 'kysely'

import type { EvaluationItem, Outcome } from '../../contract/evaluation.ts'
import { type Steps, throughout } from '../../lib/steps.ts'
import { readStoredInSteps } from '../rows/damaged-row.ts'
import { rowGroups } from '../rows/row-groups.ts'
import { openJson, sealJson } from '../rows/sealed-json.ts'
import type { EvaluationItemsTable } from '../tables/evaluation-tables.ts'
import type { Schema } from '../tables/schema.ts'
import type { ReadDatabase } from './preset-rows.ts'
import type { TextSeal } from '../rows/seal.ts'

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

type Progress = Pick<StoredItem, 'result' | 'answers'>

const NOTHING_YET: Progress = { result: null, answers: {} }

/** The rows of new items. */
export function* sealItems(id: string, items: readonly EvaluationItem[], seal: TextSeal): Steps<Insertable<EvaluationItemsTable>[]> {
  const rows: Insertable<EvaluationItemsTable>[] = []
  for (const [position, item] of items.entries()) {
    const sealed = yield* sealJson(item, contextOf(id, position, 'item'), seal)
    rows.push({ evaluation_id: id, position, sealed_item: sealed, sealed_result: null })
    yield
  }
  return rows
}

export const readItems = async ({ database, seal, startTurn }: ReadDatabase, id: string): Promise<readonly StoredItem[]> => {
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
    items.push(...(await throughout(openItems(rows, seal), turn)))
  }
  return items
}

function* openItems(rows: readonly Selectable<EvaluationItemsTable>[], seal: TextSeal): Steps<StoredItem[]> {
  const items: StoredItem[] = []
  for (const row of rows) {
    items.push(yield* readStoredInSteps('evaluation_items', `${row.evaluation_id} ${row.position}`, openItem(row, seal)))
    yield
  }
  return items
}

function* openItem(row: Selectable<EvaluationItemsTable>, seal: TextSeal): Steps<StoredItem> {
  const { evaluation_id: id, position, sealed_item, sealed_result } = row
  const item = (yield* openJson(sealed_item, contextOf(id, position, 'item'), seal)) as unknown as EvaluationItem
  const progress = sealed_result === null ? null : yield* openJson(sealed_result, contextOf(id, position, 'result'), seal)
  return { position, item, ...((progress ?? NOTHING_YET) as unknown as Progress) }
}

/** Stores all answers so far, and adds the cost of the newest one to the evaluation. */
export const keepAnswers = async (
  sealed: ReadDatabase,
  id: string,
  position: number,
  answers: KeptAnswers,
  costNanos: number,
): Promise<void> => {
  const text = await sealProgress(sealed, id, position, { result: null, answers })
  await sealed.database.transaction(async (transaction) => {
    await writeProgress(transaction, id, position, text)
    await transaction
      .updateTable('evaluations')
      .set((eb) => ({ cost_nanos: eb('cost_nanos', '+', costNanos) }))
      .where('id', '=', id)
      .execute()
  })
}

export const finishItem = async (sealed: ReadDatabase, id: string, position: number, result: ItemResult): Promise<void> => {
  const text = await sealProgress(sealed, id, position, { result, answers: {} })
  await sealed.database.transaction((transaction) => writeProgress(transaction, id, position, text))
}

const sealProgress = async ({ seal, startTurn }: ReadDatabase, id: string, position: number, progress: Progress): Promise<string> =>
  throughout(sealJson(progress, contextOf(id, position, 'result'), seal), startTurn())

const writeProgress = async (transaction: Transaction<Schema>, id: string, position: number, sealed: string): Promise<void> => {
  await transaction
    .updateTable('evaluation_items')
    .set({ sealed_result: sealed })
    .where('evaluation_id', '=', id)
    .where('position', '=', position)
    .execute()
}

const contextOf = (id: string, position: number, part: 'item' | 'result'): string => `evaluation-${part} ${id} ${position}`
