/** Files of workspaces: upload, limits, lookup and deletion. A file is never changed after it was written. */
import { createHash } from 'node:crypto'

import { scopeOf, type Reach } from '../canonical/reach.ts'
import type { Position } from '../contract/cursor.ts'
import { FILE_BYTES_MAX } from '../contract/file-name.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp, turnOf, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import { type FileStore, PIECE_BYTES, type StoredFile } from '../storage/files/file-store.ts'
import { mapOnce, type Once } from '../storage/changes/idempotency.ts'

export interface NewFile {
  readonly filename: string
  readonly mimeType: string
}

/** A completely received file that only its sender can see so far. */
export interface ReceivedFile {
  readonly file: StoredFile
  /** In hexadecimal. */
  readonly sha256: string
}

export interface FilePageOf {
  readonly items: readonly StoredFile[]
  readonly hasMore: boolean
}

export interface Files {
  /** Lists files, oldest first. */
  list(
    workspaceId: string,
    page: { readonly named?: string | undefined; readonly after?: Position | undefined; readonly limit: number },
  ): Promise<FilePageOf>
  /** Throws `not_found`, as `delete` does. */
  get(reach: Reach, id: string): Promise<StoredFile>
  /** Returns the newest file with exactly this name. */
  newestNamed(workspaceId: string, filename: string): Promise<StoredFile | null>
  /** Stores the pieces as they arrive. Throws `payload_too_large` for a file that is too large, or that exceeds the workspace's total. */
  receive(workspaceId: string, file: NewFile, pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<ReceivedFile>
  /** Makes a received file visible; if that fails, the file is discarded. */
  keep(received: ReceivedFile, by: ChangedBy, once?: Once<StoredFile>): Promise<StoredFile>
  discard(received: ReceivedFile): Promise<void>
  /** Yields the bytes in pieces; throws if the file is deleted before its end. */
  read(file: StoredFile): AsyncGenerator<Uint8Array>
  delete(reach: Reach, id: string, by: ChangedBy): Promise<void>
}

export interface FilesParts {
  readonly store: FileStore
  /** The total size in bytes that the files of one workspace may have. */
  readonly workspaceBytes: number
  readonly clock: Clock
  readonly ids: IdSource
}

/** The maximum number of files of one workspace. */
const WORKSPACE_FILES_MAX = 10_000

export const createFiles = ({ store, workspaceBytes, clock, ids }: FilesParts): Files => {
  const now = (): string => isoTimestamp(clock.now())
  const bounds = { bytes: workspaceBytes, files: WORKSPACE_FILES_MAX }
  const find = async (reach: Reach, id: string): Promise<StoredFile> => {
    const found = await store.get(scopeOf(reach), id)
    if (found === null) throw unknownFile()
    return found
  }
  const take = async (begun: StoredFile, pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<ReceivedFile> => {
    const hash = createHash('sha256')
    let sizeBytes = 0
    let position = 0
    const append = async (portion: readonly Uint8Array[]): Promise<void> => {
      const outcome = await store.append({ ...begun, createdAt: now() }, position, portion, bounds)
      if (outcome === 'full') throw tooMany(workspaceBytes)
      if (outcome === 'gone') throw unknownFile()
      position += portion.length
    }
    for await (const portion of inPortions(pieces)) {
      for (const piece of portion) {
        sizeBytes += piece.byteLength
        hash.update(piece)
      }
      if (sizeBytes > FILE_BYTES_MAX) throw tooLarge()
      await append(portion)
    }
    return { file: { ...begun, sizeBytes }, sha256: hash.digest('hex') }
  }

  return {
    async list(workspaceId, { limit, ...page }) {
      const found = await store.list({ workspaceId, ...page, limit: limit + 1 })
      return { items: found.slice(0, limit), hasMore: found.length > limit }
    },
    get: find,
    newestNamed: store.newestNamed,
    async receive(workspaceId, { filename, mimeType }, pieces) {
      const id = `file_${ids.prefixed('').slice(1)}`
      const begun: StoredFile = { id, workspaceId, filename, mimeType, sizeBytes: 0, createdAt: now() }
      if (!(await store.begin(begun, bounds))) throw tooManyFiles()
      try {
        return await take(begun, pieces)
      } catch (thrown) {
        await store.discard(id)
        throw thrown
      }
    },
    async keep({ file: received }, by, once) {
      const file = { ...received, createdAt: now() }
      try {
        if (
          await store.complete(
            file,
            by,
            mapOnce(once, () => file),
          )
        )
          return file
        throw unknownFile()
      } catch (thrown) {
        await store.discard(file.id)
        throw thrown
      }
    },
    discard: ({ file }) => store.discard(file.id),
    async *read({ id, sizeBytes }) {
      let left = sizeBytes
      for (let position = 0; left > 0; position += READ_PIECES) {
        const pieces = await store.pieces(id, position, READ_PIECES)
        if (pieces.length === 0) throw unknownFile()
        for (const piece of pieces) {
          left -= piece.byteLength
          yield piece
        }
        // Storage and a fast reader respond without the event loop in between, so the loop would otherwise be blocked.
        if (left > 0 && (position + READ_PIECES) % TURN_PIECES === 0) await turnOf(clock)
      }
    },
    async delete(reach, id, by) {
      if (!(await store.delete(await find(reach, id), { by, now: now() }))) throw unknownFile()
    },
  }
}

/** Pieces written in one transaction, or read at once: the memory that one transfer uses. */
const WRITE_PIECES = 16
const READ_PIECES = 4
/** Number of pieces after which other work gets a turn. */
const TURN_PIECES = 32

/** Regroups the bytes into pieces of the stored size, and yields several of these at a time. */
async function* inPortions(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<readonly Uint8Array[]> {
  let waiting: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    waiting.push(piece)
    size += piece.byteLength
    if (size < WRITE_PIECES * PIECE_BYTES) continue
    const bytes = Buffer.concat(waiting)
    const whole = size - (size % PIECE_BYTES)
    for (let from = 0; from < whole; from += WRITE_PIECES * PIECE_BYTES) {
      yield cutUp(bytes.subarray(from, Math.min(whole, from + WRITE_PIECES * PIECE_BYTES)))
    }
    waiting = [bytes.subarray(whole)]
    size -= whole
  }
  if (size > 0) yield cutUp(Buffer.concat(waiting))
}

const cutUp = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.byteLength / PIECE_BYTES) }, (_, index) =>
    bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  )

const unknownFile = (): GatewayError => new GatewayError('not_found', 'There is no file with this id.')

const tooLarge = (): GatewayError =>
  new GatewayError('payload_too_large', `A file has at most ${FILE_BYTES_MAX} bytes.`, { metadata: { max_bytes: FILE_BYTES_MAX } })

const tooMany = (bytes: number): GatewayError =>
  new GatewayError(
    'payload_too_large',
    `The files of a workspace have at most ${bytes} bytes together (files.workspace_bytes): delete some that nobody needs.`,
    { metadata: { reason: 'workspace_files_full', max_bytes: bytes } },
  )

const tooManyFiles = (): GatewayError =>
  new GatewayError('payload_too_large', `A workspace has at most ${WORKSPACE_FILES_MAX} files: delete some that nobody needs.`, {
    metadata: { reason: 'workspace_files_full', max_files: WORKSPACE_FILES_MAX },
  })
