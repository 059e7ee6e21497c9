/** Opens the database that the settings name, at the schema of this program. */
import { type Clock, systemClock } from '../lib/clock.ts'
import { type IdSource, systemIds } from '../lib/id.ts'
import { createDatabase, type Database, type EngineConnection } from './database.ts'
import { migrate } from './tables/migrate.ts'
import { openPostgres } from './postgres/postgres.ts'
import { readInThread } from './sqlite/read-in-thread.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { settleInThread } from './sqlite/settle-in-thread.ts'
import { StorageRefused } from './storage-errors.ts'

export interface DatabaseLocation {
  /** `postgres://…`; null for SQLite in the data directory. */
  readonly databaseUrl: string | null
  readonly dataDir: string
}

export interface OpenDatabaseOptions extends DatabaseLocation {
  /** True for the service: a second one on the same SQLite file is refused. False for the CLI, which works beside it. */
  readonly exclusive: boolean
  /** Called with failures that concern no caller, such as an idle PostgreSQL connection that dies. */
  readonly onError: (error: Error) => void
  /** Called with a sentence for the operator if opening takes long because of others. */
  readonly onWait?: ((sentence: string) => void) | undefined
  /** True for the CLI: only the service migrates a database that an older version has used (decisions/0277). */
  readonly refusesOlder?: boolean
  /** If true, SQLite settles finished requests, and reads for people, in separate threads. PostgreSQL is a separate process anyhow. */
  readonly thread?: boolean
  readonly clock?: Clock | undefined
  readonly ids?: IdSource | undefined
}

/** Throws StorageRefused or StorageUnavailable, each with one sentence for the operator. */
export const openDatabase = async (options: OpenDatabaseOptions): Promise<Database> => {
  const { clock = systemClock, ids = systemIds } = options
  const connection = await openEngine({ ...options, clock, ids })
  try {
    await migrate(connection, { clock, ids, onWait: options.onWait, refusesOlder: options.refusesOlder })
    await connection.prepared()
  } catch (error) {
    await connection.close()
    throw error
  }
  const database = createDatabase(connection, { clock, ids })
  return options.thread === true && database.engine === 'sqlite' ? settleInThread(readInThread(database, options), options) : database
}

const openEngine = async (options: OpenDatabaseOptions & { clock: Clock; ids: IdSource }): Promise<EngineConnection> => {
  const { databaseUrl, onError } = options
  if (databaseUrl === null) return openSqlite(options)
  // The URL holds a password, so the sentence does not repeat it.
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw new StorageRefused('The database URL must start with postgres:// or postgresql://.')
  return openPostgres({ databaseUrl, onError })
}
