/** PostgreSQL through `pg`, which is loaded only if a URL asks for it. */
import {
  type Dialect,
  type Driver,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
} from 'kysely'
import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg'

import { systemClock } from '../../lib/clock.ts'
import { inTime } from '../../lib/in-time.ts'
import type { EngineConnection } from '../database.ts'
import { createTransactions } from '../connections/direct-transactions.ts'
import { createPostgresLimits } from '../limits/postgres-limits.ts'
import { requireChannelBinding } from './channel-binding.ts'
import { parsePostgresUrl } from './postgres-address.ts'
import { AFTER_FAILURE, isBroken, isOutage, messageOf, READ_ONLY, retryableFailure, serverError } from './postgres-failures.ts'
import { listenForChanges } from './postgres-listen.ts'
import type { Schema } from '../tables/schema.ts'
import { refuseNulCharacters, requireSafeInteger } from '../statements/sql-values.ts'
import { StorageRefused, StorageUnavailable } from '../storage-errors.ts'

/** Every wait is bounded (docs/contract/operating.md#postgresql). */
const CONNECTIONS_MAX = 10
/** How long to wait for a free connection of the pool. */
const CONNECTION_WAIT_MS = 1000
/** How long to wait for a new connection: a busy server takes its time, and a client that gives up sooner never gets one. */
const CONNECT_MS = 5000
const STATEMENT_TIMEOUT_MS = 5000
/** Connections for queries by people, which leave all others to requests. */
const REPORT_CONNECTIONS_MAX = 3
const REPORT_TIMEOUT_MS = 2500
/** A server that is cut off cannot even report that a statement took too long. */
const SILENCE_MS = STATEMENT_TIMEOUT_MS + 1000
const LOCK_TIMEOUT_MS = 2000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000
/** Overrides the time limits that the operator set for the role or the database. */
const NO_TIME_LIMITS = '-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0'

/** The oldest server that is tested (docs/contract/operating.md#postgresql), in the form of `server_version_num`. */
const SERVER_VERSION_MIN = 150_000

/** A pool ends when none of its connections is in use, which takes as long as a statement if the server hangs. */
const CLOSE_MS = 2000

export interface PostgresOptions {
  readonly databaseUrl: string
  /** Called when an idle connection dies. The pool replaces it; this is for the log. */
  readonly onError: (error: Error) => void
}

/** A request waits for its limits; an answer that takes longer than this is of no use to it. */
const LIMITS_TIMEOUT_MS = 1000

/** Opens a pool and checks the server. Throws StorageUnavailable if it does not answer, StorageRefused if it is too old, behind an unfit pooler, or not in UTF8. */
export const openPostgres = async (options: PostgresOptions): Promise<EngineConnection> => {
  const { kysely, ...main } = await openKysely(options, {
    max: CONNECTIONS_MAX,
    // Statements that do not depend on each other's answers are sent together, which shortens the time under locks if the server is far away.
    pipeline: true,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: SILENCE_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  })
  try {
    await requireFitServer(kysely)
  } catch (error) {
    await kysely.destroy()
    throw error
  }
  const { kysely: reports } = await openKysely(options, {
    max: REPORT_CONNECTIONS_MAX,
    statement_timeout: REPORT_TIMEOUT_MS,
    query_timeout: REPORT_TIMEOUT_MS + 1000,
    // No JIT: a report is finished before its code would be compiled, which takes a tenth of a second for sums of many columns.
    options: '-c default_transaction_read_only=on -c jit=off',
  })
  // It connects on first use.
  const limitsPool = await openPool(options, { max: 1, statement_timeout: LIMITS_TIMEOUT_MS, query_timeout: LIMITS_TIMEOUT_MS })
  return {
    engine: 'postgres',
    kysely,
    reports,
    server: {
      listen: (clock, listener) => listenForChanges(clock, () => openClient(options), listener),
      openLimits: (node) => createPostgresLimits({ pool: limitsPool, node }),
    },
    oneWriter: false,
    // Its commits always survive a power failure: nodes share them, and the server groups them itself.
    transaction: createTransactions({ kysely, ...main, setDurability: () => undefined }),
    retryableFailure,
    async withMigrationAccess(work) {
      // One connection without the timeouts: a second node waits here until the first has migrated, and building an index may take long.
      const { kysely: patient } = await openKysely(options, { max: 1, options: NO_TIME_LIMITS })
      try {
        return await work(patient)
      } catch (cause) {
        const { code } = serverError(cause)
        if (code === NO_SCHEMA) throw new StorageRefused(WITHOUT_SCHEMA, { cause })
        if (code !== INSUFFICIENT_PRIVILEGE) throw cause
        throw new StorageRefused(
          `The role of the database URL must be the owner of the database, or may at least create tables in its schema (${messageOf(cause)}).`,
          { cause },
        )
      } finally {
        await patient.destroy()
      }
    },
    // The server keeps its own log and manages its own disk.
    prepared: async () => undefined,
    noteChanges: async () => undefined,
    checkpoint: async () => undefined,
    requireRoom: async () => undefined,
    close() {
      const closed = Promise.all([reports.destroy(), limitsPool.end(), kysely.destroy()]).then(() => undefined)
      const late = Promise.withResolvers<void>()
      return Promise.race([closed, late.promise]).finally(systemClock.after(CLOSE_MS, late.resolve))
    },
  }
}

interface Opened {
  readonly kysely: Kysely<Schema>
  readonly dialect: Dialect
  readonly driver: Driver
}

const openKysely = async (options: PostgresOptions, limits: PoolConfig): Promise<Opened> => {
  const dialect = new PostgresDialect({ pool: translateErrors(await openPool(options, limits)) })
  const driver = dialect.createDriver()
  dialect.createDriver = () => driver
  return { kysely: new Kysely<Schema>({ dialect }), dialect, driver }
}

/**
 * Locks are taken for READ COMMITTED: a transaction that waited for one sees what others committed meanwhile. With a stricter default of the
 * operator it would see what was there before, and a new window of a budget would miss a charge.
 */
const ISOLATION = '-c default_transaction_isolation=read\\ committed'
/** Statements are written with backslashes that stand for themselves, as in the standard: with the older setting, some mean something else, or are refused. */
const STANDARD_STRINGS = '-c standard_conforming_strings=on'
/** Times are read as numbers: with fewer digits, one of the clock is years off. */
const ALL_DIGITS = '-c extra_float_digits=1'
/** A pool closes its idle connections itself. An operator's limit would end one while a request begins to use it, and that which hears of changes. */
const NO_IDLE_LIMIT = '-c idle_session_timeout=0'

/** How soon each side of an idle connection asks for the other: firewalls forget connections of which they see nothing for minutes. */
const IDLE_S = 30
/**
 * The server lets go of what a node holds whose machine or network is gone, such as the locks of a migration, within a minute. By default it
 * asks after two hours.
 */
const NOTICE_DEAD_NODES = `-c tcp_keepalives_idle=${IDLE_S} -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 -c tcp_user_timeout=60000`

/** Our own settings for the server come last, so that they are the ones in effect. */
const connectionOf = ({ databaseUrl }: PostgresOptions, settings = '') => {
  const address = parsePostgresUrl(databaseUrl)
  return {
    ...address,
    options: `${address.options} ${ISOLATION} ${STANDARD_STRINGS} ${ALL_DIGITS} ${NO_IDLE_LIMIT} ${NOTICE_DEAD_NODES} ${settings}`.trim(),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: IDLE_S * 1000,
  }
}

const openPool = async (options: PostgresOptions, limits: PoolConfig): Promise<Pool> => {
  const pg = await import('pg')
  const connection = connectionOf(options, limits.options)
  const pool = new pg.Pool({
    ...limits,
    ...connection,
    ...(connection.requiresChannelBinding && { Client: boundClient(pg.Client) }),
    types: {
      // The only type in these tables that pg would return as text: amounts, counters and numbers of rows.
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? (text: string) => requireSafeInteger(Number(text)) : pg.types.getTypeParser(oid, format),
    },
  })
  // Without these two listeners a dropped connection would end the process: the pool listens to idle
  // clients only, and passes their errors on to us.
  pool.on('error', options.onError)
  pool.on('connect', (client) => {
    client.on('error', () => {
      // A query in progress gets the failure; an idle connection's failure is reported by the pool.
    })
  })
  return pool
}

/** A class, since the pool makes its clients itself, and tells nobody before they have given the password away. */
const boundClient = (Base: typeof Client): typeof Client =>
  class BoundClient extends Base {
    constructor(config?: string | ClientConfig) {
      super(config)
      requireChannelBinding(this.connection)
    }
  }

/** One connection outside the pool. An error ends it; the caller must listen for its end. */
const openClient = async (options: PostgresOptions): Promise<Client> => {
  const pg = await import('pg')
  const connection = connectionOf(options)
  const client = new (connection.requiresChannelBinding ? boundClient(pg.Client) : pg.Client)(connection)
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The driver says this in words of its own code, and only after the server has asked. */
const NO_PASSWORD = 'The server asks for a password, and neither the database URL nor PGPASSWORD has one.'

/** The part of a pool that Kysely uses, throwing our errors. */
const translateErrors = (pool: Pool): PostgresPool => {
  const connect = async (): Promise<PoolClient> => {
    try {
      const isFull = pool.totalCount >= pool.options.max && pool.idleCount === 0
      return await (isFull ? soonFree(pool.connect()) : pool.connect())
    } catch (cause) {
      if (messageOf(cause).includes('client password must be a')) throw new StorageRefused(NO_PASSWORD, { cause })
      throw new StorageUnavailable(`The database cannot be reached (${messageOf(cause)}).`, { cause })
    }
  }
  const idled = new WeakSet<PoolClient>()
  return {
    connect: async () => translateClientErrors(await connect(), connect, idled),
    end: () => pool.end(),
  }
}

/** A connection that comes too late is released to its pool. */
const soonFree = async (waiting: Promise<PoolClient>): Promise<PoolClient> => {
  try {
    return await inTime(waiting, CONNECTION_WAIT_MS, systemClock)
  } catch (thrown) {
    waiting.then(
      (client) => client.release(),
      () => undefined,
    )
    throw thrown
  }
}

/**
 * After a fault, every further statement fails with it at once: a rollback on a connection that hangs would make its caller wait for a
 * second timeout. The server rolls back when the connection ends.
 *
 * A connection that died while it was idle says so only when it is used: a firewall forgot it, or the server is another one by now. What
 * may be said twice goes on over the next connection, until one is new.
 */
const translateClientErrors = (taken: PoolClient, connect: () => Promise<PoolClient>, idled: WeakSet<PoolClient>): PostgresPoolClient => {
  let client = taken
  let isHeld = true
  let answered = false
  let fault: Error | null = null
  /** The first failure, which all further statements of its transaction only point at. */
  let first: unknown = null
  async function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    refuseNulCharacters(parameters)
    if (fault !== null) throw fault
    const startMs = systemClock.monotonicMs()
    try {
      const result = (await client.query(text, [...parameters])) as unknown as PostgresQueryResult<R>
      answered = true
      return result
    } catch (error) {
      if (
        !answered &&
        idled.has(client) &&
        MAY_BE_REPEATED.test(text) &&
        isBroken(error) &&
        systemClock.monotonicMs() - startMs < DEAD_WITHIN_MS
      ) {
        client.release(true)
        isHeld = false
        client = await connect().catch((unavailable: Error) => {
          fault = unavailable
          throw unavailable
        })
        isHeld = true
        return query(text, parameters)
      }
      if (isOutage(error)) {
        const says = serverError(error).code === READ_ONLY ? TAKES_NO_WRITES : 'The database does not answer'
        fault = new StorageUnavailable(`${says}: ${messageOf(error)}`, { cause: error })
        first = fault
        throw fault
      }
      if (serverError(error).code === AFTER_FAILURE && first !== null) throw first
      first = error
      // A failed rollback leaves a transaction open: that connection must not be used again.
      if (text === 'rollback' && error instanceof Error) fault = error
      throw error
    }
  }
  return {
    // Kysely's overload for cursors is for streaming rows, which is not used.
    query: query as PostgresPoolClient['query'],
    release() {
      idled.add(client)
      if (isHeld) client.release(fault !== null)
    },
  }
}

/** A dead connection says so at once. One that ends later has run the statement, which the operator may have ended on purpose. */
const DEAD_WITHIN_MS = 100

/** The beginning of a transaction, and reads: as the first statement of a connection, none of them changes anything. */
const MAY_BE_REPEATED = /^\s*(?:begin|select)\b/i

/** The sentence about PgBouncer and poolers like it, which refuse or drop the settings that a client sends with its connection (decisions/0150). */
const BEHIND_POOLER =
  'The database URL leads to a pooler, such as PgBouncer, that does not pass on the time limits of connections: give the address of PostgreSQL itself. A process has at most fifteen connections.'

const requireFitServer = async (kysely: Kysely<Schema>): Promise<void> => {
  const { version, lockTimeout, encoding } = await sql<{ version: number; lockTimeout: string; encoding: string }>`
    select current_setting('server_version_num')::int as version, current_setting('lock_timeout') as "lockTimeout",
      current_setting('server_encoding') as encoding`
    .execute(kysely)
    .then(({ rows }) => rows[0] ?? { version: 0, lockTimeout: '', encoding: '' })
    .catch((error: unknown) => {
      throw messageOf(error).includes('unsupported startup parameter') ? new StorageRefused(BEHIND_POOLER, { cause: error }) : error
    })
  if (version < SERVER_VERSION_MIN) {
    throw new StorageRefused(
      `PostgreSQL ${SERVER_VERSION_MIN / 10_000} or newer is needed, and this server is ${Math.floor(version / 10_000)}.`,
    )
  }
  if (lockTimeout === '0') throw new StorageRefused(BEHIND_POOLER)
  // Another one has no place for most characters of prompts and names.
  if (encoding !== 'UTF8') throw new StorageRefused(`The database must have the encoding UTF8, and this one has ${encoding}.`)
}

const INSUFFICIENT_PRIVILEGE = '42501'
const NO_SCHEMA = '3F000'
const WITHOUT_SCHEMA =
  'None of the schemas in the search_path of the database URL, its role or its database exists: create one, or name another.'

/** Some hosts of databases set the same default where a disk is nearly full, so it is left in effect. */
const TAKES_NO_WRITES = 'The database takes no writes, as a standby or one with default_transaction_read_only'
