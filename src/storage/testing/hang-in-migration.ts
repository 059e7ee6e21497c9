/** A process that stops in the middle of a migration, reports that, and waits to be killed. */
import { writeSync } from 'node:fs'

import { sql } from 'kysely'

import { systemClock } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import { migrate } from '../tables/migrate.ts'
import { migrationsFor } from '../tables/schema.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { openSqlite } from '../sqlite/sqlite.ts'

const [databaseUrl = '', dataDir = ''] = process.argv.slice(2)
const options = { clock: systemClock, ids: systemIds }
const connection =
  databaseUrl === ''
    ? openSqlite({ ...options, dataDir, exclusive: false, onError: () => {} })
    : await openPostgres({ databaseUrl, onError: () => {} })

await migrate(connection, options, {
  ...migrationsFor(connection.engine),
  '9000-half': {
    async up(db) {
      await sql`create table half (id integer)`.execute(db)
      writeSync(1, 'half\n')
      await new Promise((resolve) => {
        systemClock.after(60_000, () => resolve(undefined))
      })
    },
  },
})
