/**
 * Traces that wait for their destination, sealed. Each belongs to the process that sends it, and that process has
 * a row that says until when it holds all of its traces; after that, another process takes them over. So no
 * process has to rewrite a trace because it still waits.
 */
import { type Selectable, type Transaction } from 'kysely'

import { readEach, type ReadRows, readStored } from '../rows/damaged-row.ts'
import type { Database, TraceChange, TraceHold } from '../database.ts'
import { deleteOldest } from '../statements/delete-oldest.ts'
import type { Schema } from '../tables/schema.ts'
import type { TracesWaitingTable } from '../tables/trace-tables.ts'
import type { TextSeal } from '../rows/seal.ts'

export interface WaitingTrace {
  readonly id: string
  readonly destinationId: string
  /** ISO timestamp. */
  readonly createdAt: string
  readonly text: string
  readonly path: string
}

export interface WaitingTraceStore {
  /** Stores some traces and removes others, and renews the holder's hold on all its traces. A trace that exists already stays unchanged. */
  write(keep: readonly WaitingTrace[], remove: readonly string[], hold: TraceHold): Promise<void>
  /** Returns the traces that still exist, in no order. */
  read(ids: readonly string[]): Promise<ReadRows<WaitingTrace>>
  /** Takes up to `limit` traces for these destinations whose holder is gone at `now`, the oldest of each destination first. */
  take(destinationIds: readonly string[], now: string, limit: number, hold: TraceHold): Promise<ReadRows<WaitingTrace>>
  /** Frees the traces of the holder, or of every holder if null: the first process to ask may take them. */
  release(holder: string | null): Promise<void>
  /** Returns the number. */
  deleteOlderThan(before: string, limit: number): Promise<number>
}

export const createWaitingTraceStore = (database: Database, seal: TextSeal): WaitingTraceStore => {
  const opened = ({ id, destination_id, created_at, sealed }: Selectable<TracesWaitingTable>): WaitingTrace => ({
    id,
    destinationId: destination_id,
    createdAt: created_at,
    ...readStored('traces_waiting', id, () => JSON.parse(seal.open(sealed, sealedAs(id))) as Pick<WaitingTrace, 'text' | 'path'>),
  })
  return {
    async write(keep, remove, hold) {
      const rows = keep.map(({ id, destinationId, createdAt, text, path }): TracesWaitingTable => ({
        id,
        destination_id: destinationId,
        sealed: seal.seal(JSON.stringify({ text, path }), sealedAs(id)),
        created_at: createdAt,
        held_by: hold.holder,
        held_until: NEVER,
      }))
      await (database.writeTraces ?? ((change) => writeTraces(database, change)))({ rows, remove, hold })
    },

    async read(ids) {
      const rows = await database.reports.selectFrom('traces_waiting').selectAll().where('id', 'in', ids).execute()
      return readEach(rows, opened)
    },

    async take(destinationIds, now, limit, hold) {
      const gone = await database.kysely.selectFrom('trace_senders').select('id').where('held_until', '<', now).execute()
      if (gone.length === 0) return { read: [], damaged: [] }
      const rows = await database.transaction(async (transaction) => {
        await renew(transaction, hold)
        const taken: Selectable<TracesWaitingTable>[] = []
        for (const { id: holder } of gone) {
          for (const destinationId of destinationIds) {
            if (taken.length >= limit) return taken
            taken.push(...(await takeFrom(transaction, { holder, destinationId, now, limit: limit - taken.length, hold })))
          }
          await forget(transaction, holder, now)
        }
        return taken
      }, 'process')
      return readEach(rows, opened)
    },

    release: (holder) =>
      database.transaction(async (transaction) => {
        await transaction
          .updateTable('trace_senders')
          .set({ held_until: '' })
          .$if(holder !== null, (query) => query.where('id', '=', holder ?? ''))
          .execute()
      }, 'process'),

    deleteOlderThan: (before, limit) =>
      database.transaction((transaction) => deleteOldest(transaction, 'traces_waiting', 'created_at', before, limit)),
  }
}

/** The context under which the trace is sealed; it opens under no other. */
const sealedAs = (id: string): string => `waiting trace ${id}`

/** Processes of the previous version, which may run at the same time, would take a trace over at this time. */
const NEVER = '9'

const ROWS_AT_ONCE = 500

export const writeTraces = (database: Database, { rows, remove, hold }: TraceChange): Promise<void> =>
  database.transaction(async (transaction) => {
    await renew(transaction, hold)
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      await transaction
        .insertInto('traces_waiting')
        .values(rows.slice(at, at + ROWS_AT_ONCE))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
    }
    for (let at = 0; at < remove.length; at += ROWS_AT_ONCE) {
      await transaction
        .deleteFrom('traces_waiting')
        .where('id', 'in', remove.slice(at, at + ROWS_AT_ONCE))
        .execute()
    }
  }, 'process')

/** In the transaction that writes the holder's traces, because another process may have deleted a holder that was silent for a while. */
const renew = async (transaction: Transaction<Schema>, { holder, until }: TraceHold): Promise<void> => {
  await transaction
    .insertInto('trace_senders')
    .values({ id: holder, held_until: until })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ held_until: until }))
    .execute()
}

const takeFrom = (
  transaction: Transaction<Schema>,
  from: { readonly holder: string; readonly destinationId: string; readonly now: string; readonly limit: number; readonly hold: TraceHold },
): Promise<readonly Selectable<TracesWaitingTable>[]> =>
  transaction
    .updateTable('traces_waiting')
    .set({ held_by: from.hold.holder })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('traces_waiting')
        .select('id')
        .where('held_by', '=', from.holder)
        .where('destination_id', '=', from.destinationId)
        .orderBy('created_at')
        .limit(from.limit),
    )
    // Another process may have been faster, or the holder may be back.
    .where('held_by', '=', from.holder)
    .where((eb) => eb.exists(eb.selectFrom('trace_senders').select('id').where('id', '=', from.holder).where('held_until', '<', from.now)))
    .returningAll()
    .execute()

/** Deletes a holder that is gone and has no traces left. */
const forget = async (transaction: Transaction<Schema>, holder: string, now: string): Promise<void> => {
  await transaction
    .deleteFrom('trace_senders')
    .where('id', '=', holder)
    .where('held_until', '<', now)
    .where(({ not, exists, selectFrom }) => not(exists(selectFrom('traces_waiting').select('id').where('held_by', '=', holder))))
    .execute()
}
