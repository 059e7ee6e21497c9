/** Who changed what, and who signed in or exported data (docs/contract/management.md#audit-log). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { cursorOf, cursorText } from '../../contract/cursor.ts'
import { countQuery, listOf, listPaging, mustGoByCursor, wantsCount } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { auditEntry } from '../../contract/workspace.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import { csvLine } from '../../lib/text/csv.ts'
import type { Turn } from '../../lib/steps.ts'
import type { AuditEntry, AuditFilter, AuditLog } from '../../storage/changes/audit-log.ts'
import { acceptsCsv, csvStream } from '../response/csv-stream.ts'
import { jsonInTurns } from '../response/json-response.ts'
import { changeOf, reachOf, type Route, type RouteRequest } from '../route.ts'
import type { SealedCursors } from '../sealed-cursors.ts'

const name = z.string().min(1).max(256).optional()
const instant = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'Use ISO 8601, an instant or a day.')
  .transform((text) => isoTimestamp(Date.parse(text)))
  .optional()
const filters = {
  object_type: name.meta({ description: 'Entries of this kind of object, e.g. `api_key`, `preset`, `workspace`, `session`.' }),
  object_id: name.meta({ description: 'Entries of this object.' }),
  user_id: name.meta({ description: 'Entries of this person.' }),
  action: name.meta({ description: 'Entries of this action, e.g. `created`, `signed_in`, `exported`.' }),
  from: instant.meta({ description: 'The first instant or day.' }),
  to: instant.meta({ description: 'The instant or day before which they are.' }),
  cursor: cursorText.optional().meta({ description: '`next_cursor` of the answer before.' }),
  ...countQuery,
}
const filterSchema = z.object(filters)

export interface AuditLogRouteParts {
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly cursors: SealedCursors
  readonly onError: (thrown: unknown) => void
}

export const auditLogRoute = (parts: AuditLogRouteParts): Route => ({
  method: 'GET',
  path: '/audit-log',
  operation: 'listAuditLog',
  summary: 'List what keys, people and the shell have changed, newest first, and who signed in or took data away',
  tag: 'Audit',
  policy: 'management',
  surface: 'management',
  query: { ...filters, ...inWorkspace, ...listPaging.query },
  answers: {
    200: {
      description: 'Entries; with `Accept: text/csv` all that the filter finds, as a table.',
      types: ['text/csv'],
      schema: listOf(auditEntry)
        .partial({ total_count: true })
        .extend({ next_cursor: z.string().nullable().meta({ description: 'Null at the end.' }) }),
    },
  },
  errors: [400, 404],
  async handle(request) {
    const filter = filterOf(request, parts.cursors.opened(request.query))
    if (acceptsCsv(request.headers)) return exported(request, filter, parts)
    const { offset, limit } = listPaging.read(request.query)
    const isLong = wantsCount(request.query) && (await parts.auditLog.isLong(filter, offset))
    if (isLong && offset > 0) throw mustGoByCursor()
    if (isLong || !wantsCount(request.query)) {
      const { items, next } = await parts.auditLog.page(filter, limit)
      const nextCursor = next === null ? null : parts.cursors.seal(cursorOf(next))
      return jsonInTurns({ data: items.map(entryResource), next_cursor: nextCursor }, request.startTurn())
    }
    const page = await parts.auditLog.list({ ...filter, offset, limit: limit + 1 })
    const data = page.items.slice(0, limit)
    const last = page.items.length > limit ? data.at(-1) : undefined
    const nextCursor = last === undefined ? null : parts.cursors.seal(cursorOf({ createdAt: last.createdAt, id: last.requestId }))
    const body = { data: data.map(entryResource), total_count: page.totalCount, next_cursor: nextCursor }
    return jsonInTurns(body, request.startTurn())
  },
})

const filterOf = (request: RouteRequest, query: URLSearchParams): AuditFilter => {
  const given = Object.fromEntries(Object.keys(filters).map((key) => [key, query.get(key) || undefined]))
  const { object_type, object_id, user_id, action, from, to, cursor } = validate(filterSchema, given)
  if (from !== undefined && to !== undefined && from > to)
    throw new GatewayError('invalid_request', 'from: Use a time that is not after to.')
  return {
    workspaceId: scopeOf(reachOf(request)),
    objectType: object_type,
    objectId: object_id,
    userId: user_id,
    action,
    from,
    to,
    after: cursor,
  }
}

const EXPORT_PAGE = 500
/** Characters that are written at once. */
const EXPORT_PIECE = 128 * 1024

/** An export is itself recorded as an entry. */
const exported = async (
  request: RouteRequest,
  filter: AuditFilter,
  { auditLog, clock, onError }: AuditLogRouteParts,
): Promise<Response> => {
  const { workspaceId } = reachOf(request)
  const asked = Object.fromEntries([...request.query].filter(([, value]) => value !== ''))
  const entry = { workspaceId, action: 'exported', objectType: 'audit_log' as const, objectId: 'csv', before: null, after: asked }
  await auditLog.note(entry, changeOf(request, clock))
  return csvStream('audit-log.csv', lines(auditLog, filter, request.startTurn()), onError)
}

const COLUMNS = [
  'created_at',
  'workspace_id',
  'user_id',
  'key_hash',
  'session_id',
  'action',
  'object_type',
  'object_id',
  'before',
  'after',
  'id',
] as const

async function* lines(auditLog: AuditLog, filter: AuditFilter, turn: Turn): AsyncGenerator<string> {
  yield csvLine(COLUMNS)
  for (let after = filter.after; ;) {
    const { items, next } = await auditLog.page({ ...filter, after }, EXPORT_PAGE)
    let piece = ''
    for (const item of items) {
      piece += csvLine(cellsOf(item))
      if (piece.length < EXPORT_PIECE) continue
      yield piece
      piece = ''
      await turn()
    }
    yield piece
    if (next === null) return
    after = next
  }
}

const cellsOf = (entry: AuditEntry) => {
  const resource = entryResource(entry)
  return COLUMNS.map((column) => {
    const value = resource[column]
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  })
}

const entryResource = (entry: AuditEntry) => ({
  id: entry.requestId,
  created_at: entry.createdAt,
  workspace_id: entry.workspaceId,
  user_id: entry.userId,
  key_hash: entry.keyHash,
  session_id: entry.sessionId ?? null,
  action: entry.action,
  object_type: entry.objectType,
  object_id: entry.objectId,
  before: entry.before,
  after: entry.after,
})
