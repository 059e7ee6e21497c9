/** Who changed what (ours, beyond the contract). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { auditEntry, inWorkspace } from '../../contract/workspace.ts'
import type { AuditEntry, AuditLog } from '../../storage/audit-log.ts'
import { jsonResponse } from '../json-response.ts'
import { reachOf, type Route } from '../route.ts'

const name = z.string().min(1).max(128).optional()
const filters = {
  object_type: name.meta({ description: 'Entries of this kind of object, e.g. `api_key`, `preset`, `workspace`.' }),
  object_id: name.meta({ description: 'Entries of this object.' }),
}
const filterSchema = z.object(filters)

export const auditLogRoute = (auditLog: AuditLog): Route => ({
  method: 'GET',
  path: '/audit-log',
  operation: 'listAuditLog',
  summary: 'List the changes that management keys and the shell have made, newest first',
  tag: 'Audit',
  policy: 'management',
  surface: 'management',
  query: { ...filters, ...inWorkspace, ...listPaging.query },
  answers: { 200: { description: 'Entries.', schema: listOf(auditEntry) } },
  errors: [400, 404],
  async handle(request) {
    const named = (key: string): string | undefined => request.query.get(key) || undefined
    const { object_type, object_id } = validate(filterSchema, {
      object_type: named('object_type'),
      object_id: named('object_id'),
    })
    const page = await auditLog.list({
      workspaceId: scopeOf(reachOf(request)),
      objectType: object_type,
      objectId: object_id,
      ...listPaging.read(request.query),
    })
    return jsonResponse({ data: page.items.map(entryResource), total_count: page.totalCount })
  },
})

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
