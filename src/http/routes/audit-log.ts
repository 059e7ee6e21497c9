/** Who changed what (ours, beyond the contract). */
import { z } from 'zod'

import { listOf, listPaging } from '../../contract/paging.ts'
import { validate } from '../../contract/validate.ts'
import { auditEntry, workspaceIdQuery } from '../../contract/workspace.ts'
import type { AuditEntry, AuditLog } from '../../storage/audit-log.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { jsonResponse } from '../json-response.ts'
import { principalOf, type Route } from '../route.ts'

const name = z.string().min(1).max(128).optional()
const filters = {
  workspace_id: workspaceIdQuery,
  object_type: name.meta({ description: 'Entries of this kind of object, e.g. `api_key`, `preset`, `workspace`.' }),
  object_id: name.meta({ description: 'Entries of this object.' }),
}
const filterSchema = z.object(filters)

export const auditLogRoute = (parts: { auditLog: AuditLog; workspaces: Workspaces }): Route => ({
  method: 'GET',
  path: '/audit-log',
  operation: 'listAuditLog',
  summary: 'List the changes that management keys and the shell have made, newest first',
  tag: 'Audit',
  policy: 'management',
  surface: 'management',
  query: { ...filters, ...listPaging.query },
  answers: { 200: { description: 'Entries.', schema: listOf(auditEntry) } },
  errors: [400, 404],
  async handle(request) {
    const caller = principalOf(request)
    const named = (key: string): string | undefined => request.query.get(key) || undefined
    const { workspace_id, object_type, object_id } = validate(filterSchema, {
      workspace_id: named('workspace_id'),
      object_type: named('object_type'),
      object_id: named('object_id'),
    })
    const everywhere = workspace_id === undefined && parts.workspaces.reachesAll(caller)
    const page = await parts.auditLog.list({
      workspaceId: everywhere ? null : (await parts.workspaces.reach(caller, workspace_id)).id,
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
  action: entry.action,
  object_type: entry.objectType,
  object_id: entry.objectId,
  before: entry.before,
  after: entry.after,
})
