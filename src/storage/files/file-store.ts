/**
 * Files of workspaces, stored in sealed pieces, so that neither a file nor a transaction is ever large (decisions/0080). A file becomes
 * visible once it is complete; until then its bytes count towards the workspace's limit, and nothing else of it shows.
 */
import { type Selectable, sql, type Transaction } from 'kysely'

import type { Position } from '../../contract/cursor.ts'
import { type Clock, turnOf } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import { readStored } from '../rows/damaged-row.ts'
import type { Database } from '../database.ts'
import { containsText } from '../statements/match-text.ts'
import type { FilesTable } from '../tables/file-tables.ts'
import type { Once } from '../changes/idempotency.ts'
import type { Schema } from '../tables/schema.ts'
import type { ByteSeal } from '../rows/seal.ts'

export interface StoredFile {
  readonly id: string
  readonly workspaceId: string
  readonly filename: string
  readonly mimeType: string
  readonly sizeBytes: number
  /** ISO timestamp. */
  readonly createdAt: string
}

export interface FileFilter {
  readonly workspaceId: string
  /** A part of the name; ASCII letters match in either case. */
  readonly named?: string | undefined
  /** The file after which the page begins. */
  readonly after?: Position | undefined
  readonly limit: number
}

/** The limits of a workspace. */
export interface FileBounds {
  readonly bytes: number
  readonly files: number
}

export interface FileStore {
  /**
   * Begins an empty file that is not visible yet; `createdAt` is now. Returns false if the
   * workspace has reached its limit of files or is gone.
   */
  begin(file: StoredFile, bounds: FileBounds): Promise<boolean>
  /** Adds pieces after the first `position` pieces. `full`: they exceed the workspace's limit; `gone`: the file no longer exists. */
  append(file: StoredFile, position: number, pieces: readonly Uint8Array[], bounds: FileBounds): Promise<'kept' | 'full' | 'gone'>
  /** Makes the file visible, with the given fields. Returns false if it no longer exists. */
  complete(file: StoredFile, by: ChangedBy, once?: Once<boolean>): Promise<boolean>
  /** Deletes a file that is not complete. One that is stays whole: a commit may have succeeded although it was reported as failed. */
  discard(id: string): Promise<void>
  /** The oldest first. */
  list(filter: FileFilter): Promise<readonly StoredFile[]>
  get(scope: string | null, id: string): Promise<StoredFile | null>
  /** The newest file of exactly this name. */
  newestNamed(workspaceId: string, filename: string): Promise<StoredFile | null>
  /** Up to `count` pieces from `position` on; none at the end, or if the file is gone. Throws if a stored piece was changed. */
  pieces(id: string, position: number, count: number): Promise<readonly Uint8Array[]>
  /** Returns false if the file is gone already. */
  delete(file: StoredFile, change: Change): Promise<boolean>
  /** Deletes up to `limit` pieces of deleted files, and incomplete files that received nothing since `before`; returns the number. */
  deleteLeftOver(before: string, limit: number): Promise<number>
}

/** The size of each piece except the last. */
export const PIECE_BYTES = 32 * 1024

export const createFileStore = (database: Database, seal: ByteSeal, clock: Clock): FileStore => {
  const found = () => database.kysely.selectFrom('files').selectAll().where('complete', '=', 1)
  return {
    begin: (file, bounds) =>
      database.transaction(async (transaction) => {
        const held = await lockedUse(transaction, file.workspaceId)
        if (held === null || held.files >= bounds.files) return false
        await transaction
          .insertInto('files')
          .values({ ...rowOf(file), size_bytes: 0, complete: 0 })
          .execute()
        return true
      }, 'process'),

    append(file, position, pieces, bounds) {
      const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
      const rows = pieces.map((piece, index) => ({
        file_id: file.id,
        position: position + index,
        sealed: seal.sealBytes(piece, sealedAs(file.id, position + index)),
      }))
      return database.transaction<'kept' | 'full' | 'gone'>(async (transaction) => {
        const held = await lockedUse(transaction, file.workspaceId)
        if (held === null) return 'gone'
        if (held.bytes + bytes > bounds.bytes) return 'full'
        const grown = await transaction
          .updateTable('files')
          .set({ size_bytes: sql`size_bytes + ${bytes}`, created_at: file.createdAt })
          .where('id', '=', file.id)
          .where('complete', '=', 0)
          .returning('id')
          .executeTakeFirst()
        if (grown === undefined) return 'gone'
        await transaction.insertInto('file_pieces').values(rows).execute()
        return 'kept'
      }, 'process')
    },

    complete: (file, by, once) =>
      recordChange<boolean>(database, { by, now: file.createdAt, once }, async (transaction) => {
        const row = await transaction
          .updateTable('files')
          .set({ complete: 1, created_at: file.createdAt })
          .where('id', '=', file.id)
          .where('complete', '=', 0)
          .returning('id')
          .executeTakeFirst()
        return { result: row !== undefined, audit: row === undefined ? null : audited('created', file, null, viewOf(file)) }
      }),

    async discard(id) {
      const kept = await database.transaction(async (transaction) => {
        await transaction.deleteFrom('files').where('id', '=', id).where('complete', '=', 0).execute()
        return transaction.selectFrom('files').select('id').where('id', '=', id).executeTakeFirst()
      }, 'process')
      if (kept === undefined) await deletePieces(database, id, clock)
    },

    async list({ workspaceId, named, after, limit }) {
      const rows = await found()
        .where('workspace_id', '=', workspaceId)
        .$if(named !== undefined, (query) => query.where((eb) => containsText(eb.ref('filename'), named ?? '')))
        .$if(after !== undefined, (query) =>
          query.where((eb) => eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(after?.createdAt ?? '', after?.id ?? ''))),
        )
        .orderBy('created_at')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(toFile)
    },

    async get(scope, id) {
      const row = await found()
        .where('id', '=', id)
        .$if(scope !== null, (query) => query.where('workspace_id', '=', scope ?? ''))
        .executeTakeFirst()
      return row === undefined ? null : toFile(row)
    },

    async newestNamed(workspaceId, filename) {
      const row = await found()
        .where('workspace_id', '=', workspaceId)
        .where('filename', '=', filename)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row === undefined ? null : toFile(row)
    },

    async pieces(id, position, count) {
      const rows = await database.kysely
        .selectFrom('file_pieces')
        .select(['position', 'sealed'])
        .where('file_id', '=', id)
        .where('position', '>=', position)
        .where('position', '<', position + count)
        .orderBy('position')
        .execute()
      return rows.map(({ position: at, sealed }) =>
        readStored('file_pieces', `${id} ${at}`, () => seal.openBytes(sealed, sealedAs(id, at))),
      )
    },

    async delete(file, change) {
      const deleted = await recordChange<boolean>(database, change, async (transaction) => {
        const row = await transaction.deleteFrom('files').where('id', '=', file.id).returning('id').executeTakeFirst()
        return { result: row !== undefined, audit: row === undefined ? null : audited('deleted', file, viewOf(file), null) }
      })
      await deletePieces(database, file.id, clock)
      return deleted
    },

    async deleteLeftOver(before, limit) {
      const abandoned = await database.transaction(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('files')
          .where('complete', '=', 0)
          .where('created_at', '<', before)
          .executeTakeFirstOrThrow()
        return Number(numDeletedRows)
      }, 'process')
      // A file keeps its piece at 0 for as long as it has any pieces.
      const orphan = await database.kysely
        .selectFrom('file_pieces')
        .select('file_id')
        .where('position', '=', 0)
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('files').select('id').whereRef('files.id', '=', 'file_pieces.file_id'))),
        )
        .limit(1)
        .executeTakeFirst()
      if (orphan === undefined) return abandoned
      await deletePieces(database, orphan.file_id, clock)
      // There may be more.
      return limit
    },
  }
}

const sealedAs = (id: string, position: number): string => `file ${id} ${position}`

/**
 * The bytes and files of a workspace, counted while no other request adds to them; null if the workspace is gone. An
 * update that changes nothing takes the lock on both engines.
 */
const lockedUse = async (transaction: Transaction<Schema>, workspaceId: string): Promise<FileBounds | null> => {
  const workspace = await transaction
    .updateTable('workspaces')
    .set({ id: workspaceId })
    .where('id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (workspace === undefined) return null
  const { bytes, files } = await transaction
    .selectFrom('files')
    .select(({ fn }) => [fn.sum<number | string | null>('size_bytes').as('bytes'), fn.countAll<number>().as('files')])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return { bytes: Number(bytes ?? 0), files }
}

/**
 * Deletes from the end, in portions, so that neither a write nor other work of this process waits long; the first piece is deleted last.
 */
const deletePieces = async (database: Database, id: string, clock: Clock): Promise<void> => {
  for (let left = true; left;) {
    left = await database.transaction(async (transaction) => {
      const last = await transaction
        .selectFrom('file_pieces')
        .select(({ fn }) => fn.max('position').as('position'))
        .where('file_id', '=', id)
        .executeTakeFirst()
      const from = (last?.position ?? 0) - PORTION_PIECES
      await transaction.deleteFrom('file_pieces').where('file_id', '=', id).where('position', '>=', from).execute()
      return from > 0
    }, 'process')
    if (left) await turnOf(clock)
  }
}

const PORTION_PIECES = 128

const toFile = (row: Selectable<FilesTable>): StoredFile => ({
  id: row.id,
  workspaceId: row.workspace_id,
  filename: row.filename,
  mimeType: row.mime_type,
  sizeBytes: row.size_bytes,
  createdAt: row.created_at,
})

const rowOf = ({ id, workspaceId, filename, mimeType, sizeBytes, createdAt }: StoredFile) => ({
  id,
  workspace_id: workspaceId,
  filename,
  mime_type: mimeType,
  size_bytes: sizeBytes,
  created_at: createdAt,
})

const audited = (action: string, file: StoredFile, before: JsonObject | null, after: JsonObject | null): AuditedChange => ({
  workspaceId: file.workspaceId,
  action,
  objectType: 'file',
  objectId: file.id,
  before,
  after,
})

const viewOf = ({ filename, mimeType, sizeBytes }: StoredFile): JsonObject => ({ filename, mime_type: mimeType, size_bytes: sizeBytes })
