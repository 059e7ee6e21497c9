/** Lists of models and prices that an operator imported, at most one of each kind. */
import type { AuditedChange, Change, ChangedBy } from '../changes/audit-log.ts'
import { recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'

export interface StoredImport {
  readonly kind: string
  /** The date of its prices. */
  readonly asOf: string
  readonly importedAt: string
  /** Entries by model id, as JSON, which the database never parses. */
  readonly models: string
}

export interface CatalogueStore {
  /** Changes with every import and every removal. */
  revision(): Promise<string>
  /** The oldest first. */
  list(): Promise<readonly StoredImport[]>
  /** Replaces the list of that kind. */
  put(list: StoredImport, audit: AuditedChange, by: ChangedBy): Promise<void>
  /** False if there is no list of that kind. */
  remove(kind: string, audit: AuditedChange, change: Change): Promise<boolean>
}

export const createCatalogueStore = (database: Database): CatalogueStore => ({
  async revision() {
    const rows = await database.kysely.selectFrom('catalogue_imports').select(['kind', 'imported_at']).orderBy('kind').execute()
    return rows.map(({ kind, imported_at }) => `${kind} ${imported_at}`).join('\n')
  },
  async list() {
    const rows = await database.kysely.selectFrom('catalogue_imports').selectAll().orderBy('imported_at').orderBy('kind').execute()
    return rows.map(({ kind, as_of, imported_at, models }) => ({ kind, asOf: as_of, importedAt: imported_at, models }))
  },
  put: ({ kind, asOf, importedAt, models }, audit, by) =>
    recordChange(database, { by, now: importedAt }, async (transaction) => {
      const row = { as_of: asOf, imported_at: importedAt, models }
      await transaction
        .insertInto('catalogue_imports')
        .values({ kind, ...row })
        .onConflict((conflict) => conflict.column('kind').doUpdateSet(row))
        .execute()
      return { result: undefined, audit }
    }),
  remove: (kind, audit, change) =>
    recordChange(database, change, async (transaction) => {
      const { numDeletedRows } = await transaction.deleteFrom('catalogue_imports').where('kind', '=', kind).executeTakeFirstOrThrow()
      const isGone = Number(numDeletedRows) > 0
      return { result: isGone, audit: isGone ? audit : null }
    }),
})
