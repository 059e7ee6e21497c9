import { sql, type Transaction } from 'kysely'

import type { Schema } from '../tables/schema.ts'

type TableWithId = { [Table in keyof Schema]: 'id' extends keyof Schema[Table] ? Table : never }[keyof Schema]

/** Deletes up to `limit` rows whose `column` is before an ISO timestamp, the oldest first; returns how many. */
export const deleteOldest = async <Table extends TableWithId>(
  transaction: Transaction<Schema>,
  table: Table,
  column: keyof Schema[Table] & string,
  before: string,
  limit: number,
): Promise<number> => {
  const rows = sql.table(table)
  const time = sql.ref(column)
  const { numAffectedRows = 0n } = await sql`
    delete from ${rows} where id in (select id from ${rows} where ${time} < ${before} order by ${time} limit ${limit})
  `.execute(transaction)
  return Number(numAffectedRows)
}
