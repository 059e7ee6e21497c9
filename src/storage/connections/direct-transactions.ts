/**
 * Transactions whose queries go straight to the connection. Kysely's own take the connection anew for each query, in ten promises, which
 * costs more than the query, and requests wait for these transactions. They also make a query wait for the answer to the one before it,
 * which takes a round trip to a server.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  Transaction,
} from 'kysely'

import type { Durability, EngineConnection } from '../database.ts'
import type { Schema } from '../tables/schema.ts'

interface Parts {
  readonly kysely: Kysely<Schema>
  /** The dialect and the driver of `kysely`. */
  readonly dialect: Dialect
  readonly driver: Driver
  /** Called before each transaction, while no other one is open. */
  readonly setDurability: (durability: Durability) => void
}

export const createTransactions =
  ({ kysely, dialect, driver, setDurability }: Parts): EngineConnection['transaction'] =>
  (work, durability) =>
    kysely.getExecutor().provideConnection(async (connection) => {
      setDurability(durability)
      await driver.beginTransaction(connection, {})
      const executor = new DirectExecutor(dialect, connection)
      try {
        const result = await work(new Transaction<Schema>({ config: { dialect }, dialect, driver, executor }))
        executor.end()
        await driver.commitTransaction(connection)
        return result
      } catch (error) {
        executor.end()
        await driver.rollbackTransaction(connection)
        throw error
      }
    })

class DirectExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection
  #isOver = false

  constructor(dialect: Dialect, connection: DatabaseConnection) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), { provideConnection: (consumer) => consumer(connection) })
    this.#connection = connection
  }

  /** A query that comes later must not become part of the next transaction. */
  end(): void {
    this.#isOver = true
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#isOver) throw new Error('The transaction has ended.')
    return this.#connection.executeQuery<R>(query)
  }
}
