/** Migrates a database to the schema of this program, or refuses it. */
import { DEFAULT_MIGRATION_TABLE, type Kysely, type Migration, Migrator, sql } from 'kysely'

import { pause } from '../../lib/clock.ts'
import { type EngineConnection, retryConflicts, type RetryOptions } from '../database.ts'
import type { Engine } from '../engine.ts'
import { holdOffSettlements } from '../ledger/scope-windows.ts'
import { migrationsFor, type Schema } from './schema.ts'
import { StorageOlder, StorageRefused } from '../storage-errors.ts'

/** The migrations of these names, for a database that must get the schema of another. Throws StorageRefused for an unknown name. */
export const migrationsOf = (engine: Engine, names: readonly string[]): Record<string, Migration> => {
  const known = migrationsFor(engine)
  const unknown = names.find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) throw new StorageRefused(unknownSentence(unknown))
  return Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name)))
}

export interface MigrateOptions extends RetryOptions {
  /** Called once, with a sentence for the operator, if the migration takes long or waits for others. */
  readonly onWait?: ((sentence: string) => void) | undefined
  /** If true, an older database is refused with StorageOlder. An empty one gets its tables in any case. */
  readonly refusesOlder?: boolean | undefined
}

/**
 * Runs the missing migrations in one transaction, exclusively: under an advisory lock on PostgreSQL (two nodes may start at once), under
 * the write lock on SQLite. Throws StorageRefused, which names the migration, if the database has one that this program does not know.
 */
export const migrate = async (
  connection: EngineConnection,
  options: MigrateOptions,
  migrations: Record<string, Migration> = migrationsFor(connection.engine),
): Promise<void> =>
  connection.withMigrationAccess(async (kysely) => {
    if (await hasAll(kysely, migrations)) return
    if (options.refusesOlder === true && (await isOlder(kysely, migrations))) throw new StorageOlder(OLDER)
    const migrator = new Migrator({
      db: kysely,
      provider: { getMigrations: async () => (connection.engine === 'postgres' ? besideSettlements(migrations) : migrations) },
      // Kysely orders applied migrations by the time at which they ran, and would refuse the database if the
      // clock was set back since. The names define the order.
      allowUnorderedMigrations: true,
    })
    const said = options.clock.after(SAID_AFTER_MS, () => options.onWait?.(LASTS))
    try {
      await (connection.engine === 'postgres'
        ? migrateAmongOthers(kysely, migrator, connection, options)
        : migrateAlone(migrator, connection, options))
    } catch (cause) {
      const unknown = await unknownMigration(kysely, migrations)
      if (unknown === undefined) throw cause
      throw new StorageRefused(unknownSentence(unknown), { cause })
    } finally {
      said()
    }
  })

/** Nearly every start finds a database that has all of them; the migrator would read every table of it first. */
const hasAll = async (kysely: Kysely<Schema>, migrations: Record<string, Migration>): Promise<boolean> => {
  try {
    const applied = new Set(await appliedNames(kysely))
    return applied.symmetricDifference(new Set(Object.keys(migrations))).size === 0
  } catch {
    // The database is empty or in trouble: the migrator makes its table, or says what is wrong.
    return false
  }
}

const OLDER =
  'The database is that of an older version of Patchbay, which could not be started on it again once it is brought up to date. The next start of the service with this version does that; until then, use the commands of the older version.'

const isOlder = async (kysely: Kysely<Schema>, migrations: Record<string, Migration>): Promise<boolean> => {
  const applied = await appliedMigrations(kysely)
  return applied.length > 0 && applied.every((name) => Object.hasOwn(migrations, name))
}

const SAID_AFTER_MS = 3000
const LASTS =
  'The database is still being migrated, and this process waits for it. It may also wait for another process that migrates, or for a session that uses a table which is to be changed, such as a backup: pg_stat_activity shows them.'

const migrateAlone = (migrator: Migrator, { retryableFailure }: EngineConnection, options: MigrateOptions): Promise<void> =>
  retryConflicts(() => migrateOnce(migrator), { ...options, retryableFailure, startMs: options.clock.monotonicMs() })

/** Longer than the second after which PostgreSQL stops a vacuum that is in the way, and shorter than any limit of a running node. */
const LOCK_WAIT_MS = 1500
const LOCK_PAUSE_MS = 5000

/**
 * Nodes of the version before go on meanwhile. A change of a table waits for everybody who uses it, perhaps for a backup of an hour, and
 * whoever comes after it waits for the change: so it gives up soon, and tries again.
 */
const migrateAmongOthers = async (
  kysely: Kysely<Schema>,
  migrator: Migrator,
  { retryableFailure }: EngineConnection,
  { clock }: MigrateOptions,
): Promise<void> => {
  for (;;) {
    try {
      await sql`set lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(kysely)
      await migrateOnce(migrator)
      return
    } catch (error) {
      if (retryableFailure(error) !== 'conflict') throw error
    }
    await pause(clock, LOCK_PAUSE_MS)
  }
}

/**
 * A settlement uses many tables, one after the other. A migration that changes two of them in another order would end in a deadlock with
 * each one that is under way, so on a busy service it would hardly ever get through.
 */
const besideSettlements = (migrations: Record<string, Migration>): Record<string, Migration> =>
  Object.fromEntries(
    Object.entries(migrations).map(([name, migration]) => [
      name,
      {
        async up(db: Kysely<unknown>) {
          await holdOffSettlements(db)
          await migration.up(db)
        },
      },
    ]),
  )

const migrateOnce = async (migrator: Migrator): Promise<void> => {
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

const unknownSentence = (name: string): string =>
  `The database has the migration "${name}", which this version of Patchbay does not know: start the newer version that made it, or restore a backup.`

/** The names of the migrations that the database has; none if it is empty. */
export const appliedMigrations = async (kysely: Kysely<Schema>): Promise<readonly string[]> => {
  const tables = await kysely.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  return appliedNames(kysely)
}

const appliedNames = async (kysely: Kysely<Schema>): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(kysely)
  return rows.map(({ name }) => name)
}

/** Kysely's Migrator refuses an unknown migration before it does anything, with a sentence for developers; this finds its name. */
const unknownMigration = async (kysely: Kysely<Schema>, migrations: Record<string, Migration>): Promise<string | undefined> =>
  (await appliedMigrations(kysely)).findLast((name) => !Object.hasOwn(migrations, name))
