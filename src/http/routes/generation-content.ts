/** The question and the answer, if they are kept (docs/contract/management.md#contents). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { generationContent } from '../../contract/generation-content.ts'
import { generationId, generationIdQuery } from '../../contract/generation.ts'
import { validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import type { ContentStore } from '../../storage/generations/content-store.ts'
import type { GenerationStore } from '../../storage/generations/generation-store.ts'
import { jsonInTurns, jsonResponse } from '../response/json-response.ts'
import { changeOf, reachOf, type Route, type RouteRequest } from '../route.ts'

export interface GenerationContentParts {
  /** `flush` resolves when everything that was answered before is stored. */
  readonly contents: { readonly store: Pick<ContentStore, 'get' | 'delete'>; readonly flush: () => Promise<void> }
  readonly generations: { readonly store: Pick<GenerationStore, 'get'>; readonly flush: () => Promise<void> }
  readonly auditLog: Pick<AuditLog, 'note'>
  readonly clock: Pick<Clock, 'now'>
}

const shared = {
  path: '/generation/content',
  tag: 'Generations',
  policy: 'management',
  surface: 'management',
  query: generationIdQuery,
  errors: [400, 404],
} as const

export const generationContentGet = (parts: GenerationContentParts): Route => ({
  ...shared,
  method: 'GET',
  operation: 'getGenerationContent',
  summary: 'Read what was asked and answered, where the workspace keeps it',
  answers: {
    200: { description: 'The contents. Each reading is an entry of the audit log.', schema: z.object({ data: generationContent }) },
  },
  async handle(request) {
    const id = idOf(request)
    const scope = scopeOf(reachOf(request))
    await flushAll(parts)
    const found = await parts.contents.store.get(id, scope)
    if (found === null) throw await notStored(id, scope, parts.generations.store)
    const entry = {
      workspaceId: found.workspaceId,
      action: 'read',
      objectType: 'generation_content' as const,
      objectId: id,
      before: null,
      after: null,
    }
    await parts.auditLog.note(entry, changeOf(request, parts.clock))
    const { createdAt, expiresAt, workspaceId, content } = found
    const data = { id, created_at: createdAt, expires_at: expiresAt, workspace_id: workspaceId, ...content }
    return jsonInTurns({ data }, request.startTurn())
  },
})

export const generationContentDelete = (parts: GenerationContentParts): Route => ({
  ...shared,
  method: 'DELETE',
  operation: 'deleteGenerationContent',
  summary: 'Delete what was asked and answered; the record stays',
  answers: { 200: { description: 'Deleted.', schema: z.object({ deleted: z.literal(true) }) } },
  async handle(request) {
    const id = idOf(request)
    const scope = scopeOf(reachOf(request))
    await flushAll(parts)
    const isGone = await parts.contents.store.delete(id, scope, changeOf(request, parts.clock))
    if (!isGone) throw await notStored(id, scope, parts.generations.store)
    return jsonResponse({ deleted: true })
  },
})

const flushAll = async ({ contents, generations }: GenerationContentParts): Promise<void> => {
  await generations.flush()
  await contents.flush()
}

const idOf = (request: RouteRequest): string => {
  const { id } = validate(z.object(generationIdQuery), { id: request.query.get('id') ?? undefined })
  return generationId(id)
}

const notStored = async (id: string, scope: string | null, generations: Pick<GenerationStore, 'get'>): Promise<GatewayError> =>
  (await generations.get(id, scope)) === null
    ? new GatewayError('not_found', `There is no generation "${cutText(id, 128)}".`)
    : new GatewayError(
        'not_found',
        'The contents of this request are not stored. The workspace setting is_observability_io_logging_enabled stores those of new ones.',
        { metadata: { reason: 'not_stored' } },
      )
