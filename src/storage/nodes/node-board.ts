/**
 * The nodes on one PostgreSQL. Each regularly reports to the others that it is alive and what it has
 * learnt. All times are by the database's clock.
 */
import { sql } from 'kysely'

import type { Database } from '../database.ts'
import { StorageUnavailable } from '../storage-errors.ts'

export interface NodeBoard {
  /** Reports that this node is alive, and what it has learnt. Throws StorageUnavailable. */
  exchange(board: string): Promise<Exchanged>
  /** Call it when this node stops, so that the others need not wait to notice. */
  leave(): Promise<void>
}

export interface Exchanged {
  /** The last reports of the others. */
  readonly others: readonly OtherNode[]
  /** The database's time, milliseconds since the epoch. */
  readonly nowMs: number
}

export interface OtherNode {
  readonly id: string
  readonly board: string
  /** Milliseconds since that report. */
  readonly ageMs: number
}

/** A node that has not reported for this long is gone. */
const SILENCE_S = 5

export const createNodeBoard = ({ kysely }: Database, id: string): NodeBoard => ({
  async exchange(board) {
    const {
      rows: [reported],
    } = await sql<{ nowMs: number }>`insert into nodes values (${id}, clock_timestamp(), ${board})
      on conflict (id) do update set seen_at = excluded.seen_at, board = excluded.board
      returning (extract(epoch from seen_at) * 1000)::float8 as "nowMs"`.execute(kysely)
    await sql`delete from nodes where seen_at < clock_timestamp() - make_interval(secs => ${SILENCE_S})`.execute(kysely)
    const { rows: others } = await sql<OtherNode>`select id, board,
        (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "ageMs" from nodes where id <> ${id}`.execute(kysely)
    if (reported === undefined) throw new StorageUnavailable('The database does not return what it wrote.')
    return { others, nowMs: reported.nowMs }
  },
  async leave() {
    await sql`delete from nodes where id = ${id}`.execute(kysely)
  },
})
