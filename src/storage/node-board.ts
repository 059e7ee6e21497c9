/**
 * The nodes on one PostgreSQL, as each reports to the others now and then: that it is there, and what it has learnt. By the clock of
 * the database.
 */
import { sql } from 'kysely'

import type { Database } from './database.ts'

export interface NodeBoard {
  /** Says that this node is there, and what it has learnt; answers what the others last said. Throws StorageUnavailable. */
  exchange(board: string): Promise<readonly OtherNode[]>
  /** This node goes: the others need not wait to notice. */
  leave(): Promise<void>
}

export interface OtherNode {
  readonly id: string
  readonly board: string
  /** Since it said so. */
  readonly ageMs: number
}

/** A node that has said nothing for this long is gone. */
const SILENCE_S = 5

export const createNodeBoard = ({ kysely }: Database, id: string): NodeBoard => ({
  async exchange(board) {
    await sql`insert into nodes values (${id}, clock_timestamp(), ${board})
      on conflict (id) do update set seen_at = excluded.seen_at, board = excluded.board`.execute(kysely)
    await sql`delete from nodes where seen_at < clock_timestamp() - make_interval(secs => ${SILENCE_S})`.execute(kysely)
    const { rows } = await sql<OtherNode>`select id, board,
        (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "ageMs" from nodes where id <> ${id}`.execute(kysely)
    return rows
  },
  async leave() {
    await sql`delete from nodes where id = ${id}`.execute(kysely)
  },
})
