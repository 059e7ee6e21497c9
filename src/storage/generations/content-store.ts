/** The question and the answer of a request, if they are kept: sealed, in a table of their own, and read only by id. */
import { sql } from 'kysely'

import type { JsonObject } from '../../lib/json/json.ts'
import { throughout, type Turn } from '../../lib/steps.ts'
import { type Change, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { readStoredInSteps } from '../rows/damaged-row.ts'
import { deleteOldest } from '../statements/delete-oldest.ts'
import type { GenerationContentsTable } from '../tables/generation-tables.ts'
import type { TextSeal } from '../rows/seal.ts'
import { openJson, sealJson } from '../rows/sealed-json.ts'

export interface StoredContent {
  readonly id: string
  readonly workspaceId: string
  /** ISO timestamps. */
  readonly createdAt: string
  readonly expiresAt: string
  readonly content: JsonObject
}

export interface ContentStore {
  /** Existing contents stay unchanged. */
  insert(contents: readonly StoredContent[]): Promise<void>
  /** The stored size of each, in bytes; those that do not exist are left out. The contents themselves are not read. */
  sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Null if there is none of this id in the scope (one workspace, or all of them if null). Throws if the stored text was changed since. */
  get(id: string, scope: string | null): Promise<StoredContent | null>
  /** False if there is none. */
  delete(id: string, scope: string | null, change: Change): Promise<boolean>
  /** Deletes up to `limit` expired contents; returns how many were deleted. */
  deleteExpired(now: string, limit: number): Promise<number>
}

export const createContentStore = (database: Database, seal: TextSeal, startTurn: () => Turn): ContentStore => ({
  async insert(contents) {
    const turn = startTurn()
    const rows: GenerationContentsTable[] = []
    for (const { id, workspaceId, createdAt, expiresAt, content } of contents) {
      const sealed = await throughout(sealJson(content, sealedAs(id), seal), turn)
      rows.push({ id, workspace_id: workspaceId, created_at: createdAt, expires_at: expiresAt, sealed })
    }
    await (database.keepContents === null ? insertContents(database, rows) : database.keepContents(rows))
  },

  async sizesOf(ids) {
    if (ids.length === 0) return new Map()
    const rows = await database.reports
      .selectFrom('generation_contents')
      .select(['id', sql<number | string>`octet_length(sealed)`.as('size')])
      .where('id', 'in', ids)
      .execute()
    return new Map(rows.map(({ id, size }) => [id, Number(size)]))
  },

  async get(id, scope) {
    const row = await database.kysely
      .selectFrom('generation_contents')
      .selectAll()
      .where('id', '=', id)
      .$if(scope !== null, (query) => query.where('workspace_id', '=', scope ?? ''))
      .executeTakeFirst()
    if (row === undefined) return null
    const opening = readStoredInSteps('generation_contents', id, openJson(row.sealed, sealedAs(id), seal))
    const content = (await throughout(opening, startTurn())) as JsonObject
    return {
      id,
      workspaceId: row.workspace_id,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      content,
    }
  },

  delete: (id, scope, change) =>
    recordChange(database, change, async (transaction) => {
      const gone = await transaction
        .deleteFrom('generation_contents')
        .where('id', '=', id)
        .$if(scope !== null, (query) => query.where('workspace_id', '=', scope ?? ''))
        .returning('workspace_id')
        .executeTakeFirst()
      if (gone === undefined) return { result: false, audit: null }
      const audit = {
        workspaceId: gone.workspace_id,
        action: 'deleted',
        objectType: 'generation_content' as const,
        objectId: id,
        before: null,
        after: null,
      }
      return { result: true, audit }
    }),

  deleteExpired: (now, limit) =>
    database.transaction((transaction) => deleteOldest(transaction, 'generation_contents', 'expires_at', now, limit)),
})

/** The context under which the content is sealed; it opens under no other. */
const sealedAs = (id: string): string => `generation content ${id}`

export const insertContents = (database: Database, rows: readonly GenerationContentsTable[]): Promise<void> =>
  database.transaction(async (transaction) => {
    await transaction
      .insertInto('generation_contents')
      .values([...rows])
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
  }, 'process')
