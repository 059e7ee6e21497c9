/** Files of a workspace (docs/contract/files.md). */
import { z } from 'zod'

import { cursorOf, type Position } from '../../contract/cursor.ts'
import {
  deletedFile,
  fileListQuery,
  filePage,
  fileQuery,
  fileResource,
  type FilePage,
  type FileResource,
  uploadForm,
} from '../../contract/file.ts'
import { FILE_BYTES_MAX, fileId, fileName } from '../../contract/file-name.ts'
import { onceHeaders } from '../../contract/idempotency.ts'
import { invalidField, validate } from '../../contract/validate.ts'
import type { Files, FilePageOf, ReceivedFile } from '../../files/files.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import type { StoredFile } from '../../storage/files/file-store.ts'
import { answerOnce, type Onceness } from '../answer-once.ts'
import { fileStream } from '../response/file-stream.ts'
import { jsonResponse } from '../response/json-response.ts'
import { boundaryOf, type FormPart, readForm } from '../multipart.ts'
import { changedBy, changeOf, reachOf, type Route, type RouteRequest } from '../route.ts'

const shared = { tag: 'Files', policy: 'any-key', isCounted: true, surface: 'management', ignoresUnknownQuery: true } as const
const path = '/files'
const one = { ...shared, path: `${path}/:file_id`, params: { file_id: fileId }, query: fileQuery } as const

const listQuery = z.object(fileListQuery)
const oneQuery = z.object(fileQuery)

/** Bytes for everything except the file's content: its name, its type, and the fields of the form. */
const FORM_BYTES = 64 * 1024

/** An empty parameter counts as absent. */
const queryOf = <Query extends z.ZodType>(query: Query, { query: given }: RouteRequest): z.output<Query> =>
  validate(query, Object.fromEntries([...given].filter(([, value]) => value !== '')))

const idOf = (request: RouteRequest): string => {
  queryOf(oneQuery, request)
  return validate(fileId, request.params['file_id'], ['file_id'])
}

export interface FileRouteParts {
  readonly files: Files
  readonly onceness: Onceness
  readonly clock: Clock
  readonly auditLog: Pick<AuditLog, 'note'>
  readonly unreadMs: number
  readonly onError: (thrown: unknown, doing: string) => void
}

export const fileRoutes = ({ files, onceness, auditLog, clock, unreadMs, onError }: FileRouteParts): readonly Route[] => [
  {
    ...shared,
    method: 'GET',
    path,
    operation: 'listFiles',
    summary: 'List the files of a workspace',
    query: fileListQuery,
    answers: { 200: { description: 'Files, the oldest first.', schema: filePage } },
    errors: [400, 404],
    async handle(request) {
      const { limit, page, cursor = page, after, after_id: afterId = after, filename } = queryOf(listQuery, request)
      const reach = reachOf(request)
      const behind = cursor ?? (afterId === undefined ? undefined : positionOf(await files.get({ ...reach, everywhere: false }, afterId)))
      return jsonResponse(pageOf(await files.list(reach.workspaceId, { named: filename, after: behind, limit: Number(limit) })))
    },
  },
  {
    ...shared,
    method: 'POST',
    path,
    operation: 'uploadFile',
    summary: 'Store a file in a workspace',
    query: fileQuery,
    headers: onceHeaders,
    body: uploadForm,
    bodyType: 'multipart/form-data',
    answers: { 200: { description: 'The file.', schema: fileResource } },
    errors: [404, 413],
    async handle(request) {
      queryOf(oneQuery, request)
      const boundary = boundaryOf(request.headers)
      const { workspaceId } = reachOf(request)
      const received = await request.consume(FILE_BYTES_MAX + FORM_BYTES, (pieces) =>
        receiveForm(files, workspaceId, readForm(pieces, boundary)),
      )
      const { file, sha256 } = received
      return answerOnce(
        { request, operation: 'uploadFile', status: 200, asked: () => JSON.stringify([file.filename, file.mimeType, sha256]) },
        onceness,
        (once) => files.keep(received, changedBy(request), once),
        resourceOf,
      )
    },
  },
  {
    ...one,
    method: 'GET',
    operation: 'getFileMetadata',
    summary: 'Read what a file is',
    answers: { 200: { description: 'The file.', schema: fileResource } },
    errors: [400, 404],
    async handle(request) {
      const id = idOf(request)
      return jsonResponse(resourceOf(await files.get(reachOf(request), id)))
    },
  },
  {
    ...one,
    method: 'DELETE',
    operation: 'deleteFile',
    summary: 'Delete a file',
    answers: { 200: { description: 'Deleted.', schema: deletedFile } },
    errors: [400, 404],
    async handle(request) {
      const id = idOf(request)
      await files.delete(reachOf(request), id, changedBy(request))
      return jsonResponse({ _shape: 'openrouter', id, type: 'file_deleted' } satisfies z.output<typeof deletedFile>)
    },
  },
  {
    ...one,
    path: `${one.path}/content`,
    method: 'GET',
    operation: 'downloadFileContent',
    summary: 'Read the bytes of a file',
    answers: { 200: { description: 'The bytes as they were uploaded.', types: ['application/octet-stream'] } },
    errors: [400, 404],
    async handle(request) {
      const id = idOf(request)
      const file = await files.get(reachOf(request), id)
      const headers = contentHeaders(file)
      if (request.method === 'HEAD') return new Response(null, { headers })
      // Programs read their own files with inference keys; whoever manages a workspace reads those of others.
      if (request.principal?.kind !== 'inference') {
        const entry = {
          workspaceId: file.workspaceId,
          action: 'read',
          objectType: 'file' as const,
          objectId: id,
          before: null,
          after: null,
        }
        await auditLog.note(entry, changeOf(request, clock))
      }
      const stream = fileStream(files.read(file), {
        clock,
        unreadMs,
        onError: (thrown) => onError(thrown, 'a file could not be read to its end'),
      })
      return new Response(stream, { headers })
    },
  },
]

const receiveForm = async (files: Files, workspaceId: string, parts: AsyncIterable<FormPart>): Promise<ReceivedFile> => {
  let received: ReceivedFile | null = null
  try {
    for await (const { name, filename, contentType, content } of parts) {
      if (!Object.hasOwn(uploadForm.shape, name))
        throw invalidField(cutText(name, 100), 'The form may have no such part. Send the file in the part "file".')
      if (name !== 'file') continue
      if (received !== null) throw invalidField('file', 'Send one file at a time.')
      const file = {
        filename: validate(fileName, filename ?? '', ['file', 'filename']),
        mimeType: contentType ?? 'application/octet-stream',
      }
      received = await files.receive(workspaceId, file, content)
    }
    if (received === null) throw invalidField('file', 'The form has no part "file".')
    return received
  } catch (thrown) {
    if (received !== null) await files.discard(received)
    throw thrown
  }
}

/** Uploaded content must never run in a browser: it is always downloaded, whatever it is. */
const contentHeaders = ({ filename, sizeBytes }: StoredFile): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  'content-length': String(sizeBytes),
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, percentEncoded)}`,
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'private, no-store',
})

const percentEncoded = (sign: string): string => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`

const positionOf = ({ createdAt, id }: StoredFile): Position => ({ createdAt, id })

const resourceOf = (file: StoredFile): FileResource => ({
  _shape: 'openrouter',
  id: file.id,
  type: 'file',
  filename: file.filename,
  mime_type: file.mimeType,
  size_bytes: file.sizeBytes,
  created_at: file.createdAt,
  downloadable: true,
})

const pageOf = ({ items, hasMore }: FilePageOf): FilePage => {
  const last = items.at(-1)
  const cursor = hasMore && last !== undefined ? cursorOf(positionOf(last)) : null
  return {
    _shape: 'openrouter',
    data: items.map(resourceOf),
    has_more: hasMore,
    first_id: items[0]?.id ?? null,
    last_id: last?.id ?? null,
    cursor,
    next_page: cursor,
  }
}
