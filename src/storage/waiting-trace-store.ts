/** Traces that wait for their destination, sealed, each held by the process that sends it: what one leaves behind, another sends. */
import type { Database, TraceChange } from './database.ts'
import type { TracesWaitingTable } from './schema.ts'
import type { TextSeal } from './sealed-config.ts'

export interface WaitingTrace {
  readonly id: string
  readonly destinationId: string
  /** ISO timestamp. */
  readonly createdAt: string
  readonly text: string
  readonly path: string
}

export interface Lease {
  readonly holder: string
  /** ISO timestamp. */
  readonly until: string
}

export interface WaitingTraceStore {
  /** Keeps some and removes others. One that is there already stays. */
  write(keep: readonly WaitingTrace[], remove: readonly string[], lease: Lease): Promise<void>
  /** Up to so many of these destinations, the oldest first, which nobody has held since `now`. */
  take(destinationIds: readonly string[], now: string, limit: number, lease: Lease): Promise<readonly WaitingTrace[]>
  /** All that the holder has. */
  renew(lease: Lease): Promise<void>
  /** The traces of the holder, or, with null, of anybody: whoever asks first may have them. */
  release(holder: string | null): Promise<void>
  /** Answers how many. */
  deleteOlderThan(before: string, limit: number): Promise<number>
}

export const createWaitingTraceStore = (database: Database, seal: TextSeal): WaitingTraceStore => ({
  async write(keep, remove, { holder, until }) {
    const rows = keep.map(({ id, destinationId, createdAt, text, path }): TracesWaitingTable => ({
      id,
      destination_id: destinationId,
      sealed: seal.seal(JSON.stringify({ text, path }), sealedAs(id)),
      created_at: createdAt,
      held_by: holder,
      held_until: until,
    }))
    await (database.writeTraces ?? ((change) => writeTraces(database, change)))({ rows, remove })
  },

  take: (destinationIds, now, limit, { holder, until }) =>
    database.transaction(async (transaction) => {
      const free = await transaction
        .selectFrom('traces_waiting')
        .select('id')
        .where('held_until', '<', now)
        .where('destination_id', 'in', destinationIds)
        .orderBy('created_at')
        .limit(limit)
        .execute()
      if (free.length === 0) return []
      const taken = await transaction
        .updateTable('traces_waiting')
        .set({ held_by: holder, held_until: until })
        .where(
          'id',
          'in',
          free.map(({ id }) => id),
        )
        // Another process may have been faster.
        .where('held_until', '<', now)
        .returningAll()
        .execute()
      return taken.map(({ id, destination_id, created_at, sealed }) => ({
        id,
        destinationId: destination_id,
        createdAt: created_at,
        ...(JSON.parse(seal.open(sealed, sealedAs(id))) as Pick<WaitingTrace, 'text' | 'path'>),
      }))
    }, 'process'),

  renew: ({ holder, until }) =>
    database.transaction(async (transaction) => {
      await transaction.updateTable('traces_waiting').set({ held_until: until }).where('held_by', '=', holder).execute()
    }, 'process'),

  release: (holder) =>
    database.transaction(async (transaction) => {
      await transaction
        .updateTable('traces_waiting')
        .set({ held_until: '' })
        .$if(holder !== null, (query) => query.where('held_by', '=', holder ?? ''))
        .execute()
    }, 'process'),

  deleteOlderThan: (before, limit) =>
    database.transaction(async (transaction) => {
      const { numDeletedRows } = await transaction
        .deleteFrom('traces_waiting')
        .where('id', 'in', (eb) =>
          eb.selectFrom('traces_waiting').select('id').where('created_at', '<', before).orderBy('created_at').limit(limit),
        )
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    }),
})

/** The name under which one was sealed, as which alone it opens. */
const sealedAs = (id: string): string => `waiting trace ${id}`

const ROWS_AT_ONCE = 500

export const writeTraces = (database: Database, { rows, remove }: TraceChange): Promise<void> =>
  database.transaction(async (transaction) => {
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
