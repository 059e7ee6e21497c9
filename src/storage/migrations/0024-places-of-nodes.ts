/** How the places of each node are taken, as nodes on one PostgreSQL tell one another. Unlogged, as in 0015. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const placesOfNodes = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    if (engine !== 'postgres') return
    await sql`create unlogged table limit_places (
      node text collate "C" not null primary key,
      lease_until timestamptz not null,
      said text collate "C" not null
    )`.execute(db)
  },
})
