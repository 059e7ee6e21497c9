/** The request log: one page of it, all of it as a table, and new requests as they end (docs/contract/management.md#request-log). */
import { z } from 'zod'

import { cursorOf, pageOf, type Position } from '../../contract/cursor.ts'
import { generationFilters, generationListQuery, generationRow, LONG_MEMBERS } from '../../contract/generation-list.ts'
import { readTimeRange } from '../../contract/time-range.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { scopeOf } from '../../canonical/reach.ts'
import type { Clock } from '../../lib/clock.ts'
import { csvLine } from '../../lib/text/csv.ts'
import { movedDecimal, scaledDecimal } from '../../lib/decimal.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import type { GenerationFilter } from '../../storage/generations/generation-filter.ts'
import type { GenerationList, GenerationPage, ListedGeneration } from '../../storage/generations/generation-list.ts'
import { generationResource } from '../generation-resource.ts'
import { jsonResponse } from '../response/json-response.ts'
import type { PacedReads } from '../paced-reads.ts'
import { changeOf, reachOf, type Route, type RouteRequest } from '../route.ts'
import type { SealedCursors } from '../sealed-cursors.ts'
import { acceptsCsv, csvStream } from '../response/csv-stream.ts'

export interface GenerationListParts {
  readonly list: GenerationList
  readonly auditLog: Pick<AuditLog, 'note'>
  readonly reads: PacedReads
  readonly cursors: SealedCursors
  readonly clock: Clock
  /** Resolves when everything that was answered before is written. */
  readonly flush: () => Promise<void>
  readonly onError: (thrown: unknown) => void
}

const LIMIT = 50
const DAYS_MAX = 31
const CSV_ROWS = 500

export const generationsList = (parts: GenerationListParts): Route => ({
  method: 'GET',
  path: '/generations',
  operation: 'listGenerations',
  summary: 'List the requests for models, newest first',
  tag: 'Generations',
  policy: 'own',
  surface: 'management',
  query: { ...generationListQuery, ...inWorkspace },
  answers: {
    200: {
      description: 'A page; with `Accept: text/csv` all that the filters let through, as a table.',
      schema: pageOf(generationRow),
      types: ['text/csv'],
    },
  },
  errors: [400, 404, 503],
  async handle(request) {
    const { cursor = null, limit, ...asked } = validate(listQuery, given(parts.cursors.opened(request.query), generationListQuery))
    await parts.flush()
    const filter = await readFilter(request, asked, parts)
    if (acceptsCsv(request.headers)) return exported(request, filter, parts)
    const size = limit === undefined ? LIMIT : Number(limit)
    const { rows, next } = await parts.reads.run(request, 'listGenerations', () => parts.list.page(filter, cursor, size))
    return jsonResponse({ data: rows.map(rowOf), next_cursor: next === null ? null : parts.cursors.seal(cursorOf(next)) })
  },
})

const listQuery = z.object(generationListQuery)
const filterQuery = z.object(generationFilters)

/** The declared parameters; an empty one counts as absent. */
const given = (query: URLSearchParams, declared: object): Record<string, string | undefined> =>
  Object.fromEntries(Object.keys(declared).map((name) => [name, query.get(name) || undefined]))

export const filterOf = (request: RouteRequest, parts: Pick<GenerationListParts, 'list' | 'clock'>): Promise<GenerationFilter> =>
  readFilter(request, validate(filterQuery, given(request.query, generationFilters)), parts)

const readFilter = async (
  request: RouteRequest,
  asked: z.output<typeof filterQuery>,
  { list, clock }: Pick<GenerationListParts, 'list' | 'clock'>,
): Promise<GenerationFilter> => {
  const isBounded = [asked.key, asked.preset, asked.session_id, asked.request_id].some((value) => value !== undefined)
  const isOne = asked.session_id !== undefined || asked.request_id !== undefined
  const nowMs = clock.now()
  const range = readTimeRange(asked, { nowMs, daysMax: isBounded ? null : DAYS_MAX, ...(isOne ? { fromDefaultMs: nowMs } : {}) })
  const reach = reachOf(request)
  const workspaceId = scopeOf(reach)
  return {
    ...range,
    workspaceId,
    ownedBy: reach.onlyUserId,
    status: asked.status,
    errorType: asked.error_type,
    model: asked.model,
    provider: asked.provider,
    presetIds: asked.preset === undefined ? undefined : await list.presetIds(asked.preset, workspaceId),
    presetVersion: asked.preset_version === undefined ? undefined : Number(asked.preset_version),
    keyHash: asked.key,
    userId: asked.user_id,
    sessionId: asked.session_id,
    requestId: asked.request_id,
    interface: asked.interface,
    minCostNanos: asked.min_cost_usd === undefined ? undefined : (scaledDecimal(asked.min_cost_usd, NANO_PLACES) ?? undefined),
    minTotalMs: asked.min_latency_ms === undefined ? undefined : Number(asked.min_latency_ms),
    hasContent: asked.has_content === undefined ? undefined : asked.has_content === 'true',
    hasPreset: asked.has_preset === undefined ? undefined : asked.has_preset === 'true',
    guardrailId: asked.guardrail,
  }
}

const NANO_PLACES = 9

/** The generation without its long members. */
export const rowOf = (found: ListedGeneration): JsonObject => {
  const resource = generationResource(found)
  const attempts = resource['provider_responses']
  return {
    ...Object.fromEntries(Object.entries(resource).filter(([name]) => !LONG_MEMBERS.has(name))),
    attempts: Array.isArray(attempts) ? attempts.length : 0,
    has_content: found.hasContent,
  }
}

/** An export is recorded before its first row is sent. */
const exported = async (
  request: RouteRequest,
  filter: GenerationFilter,
  { list, auditLog, clock, onError }: GenerationListParts,
): Promise<Response> => {
  const { workspaceId } = reachOf(request)
  const change = changeOf(request, clock)
  const asked = Object.fromEntries(request.query)
  await auditLog.note({ workspaceId, action: 'exported', objectType: 'generations', objectId: 'csv', before: null, after: asked }, change)
  const to = filter.to ?? change.now
  return csvStream('requests.csv', pages(list, { ...filter, to }), onError)
}

async function* pages(list: GenerationList, filter: GenerationFilter): AsyncGenerator<string> {
  yield csvLine(COLUMNS.map(([name]) => name))
  let after: Position | null = null
  do {
    const { rows, next }: GenerationPage = await list.page(filter, after, CSV_ROWS)
    if (rows.length > 0) yield rows.map((row) => csvLine(COLUMNS.map(([, cell]) => cell(row)))).join('')
    after = next
  } while (after !== null)
}

type Cell = (row: ListedGeneration) => string | number | boolean | null

const reported =
  (member: string): Cell =>
  ({ record }) => {
    const value = record[member]
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
  }

const COLUMNS: readonly (readonly [name: string, cell: Cell])[] = [
  ['id', ({ id }) => id],
  ['created_at', ({ createdAt }) => createdAt],
  ['request_id', reported('request_id')],
  ['workspace_id', ({ workspaceId }) => workspaceId],
  ['api_key_hash', ({ keyHash }) => keyHash],
  ['api_key_name', ({ keyName }) => keyName],
  ['user_id', ({ userId }) => userId],
  ['interface', reported('interface')],
  ['model', ({ model }) => model],
  ['provider', ({ provider }) => provider],
  ['preset_slug', reported('preset_slug')],
  ['preset_version', ({ presetVersion }) => presetVersion],
  ['session_id', reported('session_id')],
  ['streamed', ({ streamed }) => streamed],
  ['cancelled', ({ cancelled }) => cancelled],
  ['http_status', reported('http_status')],
  ['finish_reason', reported('finish_reason')],
  ['error_type', reported('error_type')],
  ['tokens_prompt', ({ tokensPrompt }) => tokensPrompt],
  ['tokens_completion', ({ tokensCompletion }) => tokensCompletion],
  ['total_cost_usd', ({ costNanos }) => amount(costNanos)],
  ['byok_cost_usd', ({ byokCostNanos }) => amount(byokCostNanos)],
  ['cost_known', reported('cost_known')],
  ['usage_estimated', reported('usage_estimated')],
  ['latency_ms', reported('latency')],
  ['generation_time_ms', reported('generation_time')],
]

/** A number, so that no spreadsheet takes it for text. */
const amount = (nanos: number): number | string => movedDecimal(nanos, -NANO_PLACES)
