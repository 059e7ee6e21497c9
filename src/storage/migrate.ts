/** Brings a database to the schema of this program, or refuses it. */
import { DEFAULT_MIGRATION_TABLE, type Kysely, type Migration, Migrator, sql } from 'kysely'

import { type Engine, type EngineConnection, retryConflicts, type RetryOptions } from './database.ts'
import { firstTables } from './migrations/0001-first-tables.ts'
import { serviceFacts } from './migrations/0002-service-facts.ts'
import { strictKeys } from './migrations/0003-strict-keys.ts'
import { ledger } from './migrations/0004-ledger.ts'
import { guardrails } from './migrations/0005-guardrails.ts'
import { management } from './migrations/0006-management.ts'
import { keySettings } from './migrations/0007-key-settings.ts'
import { catalogueImports } from './migrations/0008-catalogue-imports.ts'
import { presetMoves } from './migrations/0009-preset-moves.ts'
import { requestLog } from './migrations/0010-request-log.ts'
import { sessions } from './migrations/0011-sessions.ts'
import { presetTests } from './migrations/0012-preset-tests.ts'
import { observabilityDestinations } from './migrations/0013-observability-destinations.ts'
import { usageHours } from './migrations/0014-usage-hours.ts'
import { nodes } from './migrations/0015-nodes.ts'
import { presetRollouts } from './migrations/0016-preset-rollouts.ts'
import { generationContents } from './migrations/0017-generation-contents.ts'
import { people } from './migrations/0018-people.ts'
import { evaluations } from './migrations/0019-evaluations.ts'
import { endpointHealth } from './migrations/0020-endpoint-health.ts'
import { requiredEvaluations } from './migrations/0021-required-evaluations.ts'
import { tracesWaiting } from './migrations/0022-traces-waiting.ts'
import { traceSenders } from './migrations/0023-trace-senders.ts'
import { placesOfNodes } from './migrations/0024-places-of-nodes.ts'
import { files } from './migrations/0025-files.ts'
import type { Schema } from './schema.ts'
import { StorageRefused } from './storage-errors.ts'

/** Append-only: a migration that was released never changes, not even its name. They run in the order of their names. */
export const migrationsFor = (engine: Engine): Record<string, Migration> => ({
  '0001-first-tables': firstTables(engine),
  '0002-service-facts': serviceFacts(engine),
  '0003-strict-keys': strictKeys,
  '0004-ledger': ledger(engine),
  '0005-guardrails': guardrails(engine),
  '0006-management': management(engine),
  '0007-key-settings': keySettings(engine),
  '0008-catalogue-imports': catalogueImports(engine),
  '0009-preset-moves': presetMoves(engine),
  '0010-request-log': requestLog(engine),
  '0011-sessions': sessions(engine),
  '0012-preset-tests': presetTests(engine),
  '0013-observability-destinations': observabilityDestinations(engine),
  '0014-usage-hours': usageHours(engine),
  '0015-nodes': nodes(engine),
  '0016-preset-rollouts': presetRollouts(engine),
  '0017-generation-contents': generationContents(engine),
  '0018-people': people(engine),
  '0019-evaluations': evaluations(engine),
  '0020-endpoint-health': endpointHealth(engine),
  '0021-required-evaluations': requiredEvaluations(engine),
  '0022-traces-waiting': tracesWaiting(engine),
  '0023-trace-senders': traceSenders(engine),
  '0024-places-of-nodes': placesOfNodes(engine),
  '0025-files': files(engine),
})

/** Those of these names, for a database that is to have the schema of another. Throws StorageRefused for one that we do not know. */
export const migrationsOf = (engine: Engine, names: readonly string[]): Record<string, Migration> => {
  const known = migrationsFor(engine)
  const unknown = names.find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) throw new StorageRefused(unknownSentence(unknown))
  return Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name)))
}

/**
 * Runs what is missing, in one transaction, alone: an advisory lock on PostgreSQL (two nodes start at once), the write lock on
 * SQLite. Throws StorageRefused, naming the migration, when the database has one that we do not know.
 */
export const migrate = async (
  connection: EngineConnection,
  options: RetryOptions,
  migrations: Record<string, Migration> = migrationsFor(connection.engine),
): Promise<void> =>
  connection.withMigrationAccess(async (kysely) => {
    const migrator = new Migrator({
      db: kysely,
      provider: { getMigrations: async () => migrations },
      // Kysely orders what was applied by the clock of that day, and a clock that was set back since would make it refuse the
      // database. The names give the order.
      allowUnorderedMigrations: true,
    })
    try {
      const { retryableFailure } = connection
      await retryConflicts(() => migrateOnce(migrator), { ...options, retryableFailure, startMs: options.clock.monotonicMs() })
    } catch (cause) {
      const unknown = await unknownMigration(kysely, migrations)
      if (unknown === undefined) throw cause
      throw new StorageRefused(unknownSentence(unknown), { cause })
    }
  })

const migrateOnce = async (migrator: Migrator): Promise<void> => {
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

const unknownSentence = (name: string): string =>
  `The database has the migration "${name}", which this version of Patchbay does not know: start the newer version that made it, or restore a backup.`

/** The names of those that the database has; none where it is empty. */
export const appliedMigrations = async (kysely: Kysely<Schema>): Promise<readonly string[]> => {
  const tables = await kysely.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(kysely)
  return rows.map(({ name }) => name)
}

/** Migrator refuses an unknown migration before it does anything, with a sentence for developers; this finds its name. */
const unknownMigration = async (kysely: Kysely<Schema>, migrations: Record<string, Migration>): Promise<string | undefined> =>
  (await appliedMigrations(kysely)).findLast((name) => !Object.hasOwn(migrations, name))
