/** Lists of models and prices that an operator imported. Released: never change it. */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const catalogueImports = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const end = engine === 'postgres' ? sql`` : sql`strict`
    await sql`create table catalogue_imports (
      kind ${text} not null primary key,
      as_of ${text} not null,
      imported_at ${text} not null,
      models ${text} not null
    ) ${end}`.execute(db)
  },
})
