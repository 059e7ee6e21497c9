/** The ledger of a service on SQLite, which no route shows whole. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

export interface LedgerRow {
  readonly request_id: string
  readonly attempt_no: number
  readonly kind: string
  readonly amount_n: number
  readonly upstream_n: number
}

/** Without `id`, the rows of all requests. */
export const ledgerRows = (dataDir: string, id: string | null = null): readonly LedgerRow[] => {
  const database = new Database(join(dataDir, 'patchbay.db'), { readonly: true })
  try {
    return database
      .query<LedgerRow, [string | null]>(
        'select request_id, attempt_no, kind, amount_n, upstream_n from ledger where request_id = coalesce(?, request_id) order by attempt_no',
      )
      .all(id)
  } finally {
    database.close()
  }
}

/** Damages the books of a service that has ended. */
export const changeLedger = (dataDir: string, sql: string): void => {
  const database = new Database(join(dataDir, 'patchbay.db'))
  try {
    database.run(sql)
  } finally {
    database.close()
  }
}
