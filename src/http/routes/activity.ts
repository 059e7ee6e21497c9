/** Usage by day, model and provider, for charts (docs/contract/management.md#activity). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { activityItem } from '../../contract/activity.ts'
import { keyHash } from '../../contract/key-hash.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { GatewayError } from '../../errors.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import { dollars } from '../../lib/money.ts'
import type { ActivityRow, ActivityStore } from '../../storage/usage/activity-store.ts'
import { jsonResponse } from '../response/json-response.ts'
import { reachOf, type Route } from '../route.ts'

export interface ActivityRouteParts {
  readonly activity: ActivityStore
  readonly clock: Clock
  /** Resolves when everything that was answered before is counted. */
  readonly flush: () => Promise<void>
  /** The provider's display name; for a provider that no longer exists, the slug itself. */
  readonly providerName: (slug: string) => string
}

const filters = {
  date: z.iso.date().optional().meta({ description: 'One day of the last 30, UTC; all of them, today included, when absent.' }),
  api_key_hash: keyHash.optional(),
  user_id: z.string().max(256).optional().meta({ description: 'Use by the keys of this user.' }),
  group_by: z.literal('workspace').optional().meta({ description: 'Lists each workspace separately.' }),
}
const filterSchema = z.object(filters)

const DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1000
const ROWS_MAX = 10_000

export const activityRoute = ({ activity, clock, flush, providerName }: ActivityRouteParts): Route => ({
  method: 'GET',
  path: '/activity',
  operation: 'getActivity',
  summary: 'Read use by day, model and provider, of the last 30 days',
  tag: 'Generations',
  policy: 'management',
  surface: 'management',
  query: { ...filters, ...inWorkspace },
  answers: { 200: { description: 'The latest day first.', schema: z.object({ data: z.array(activityItem) }) } },
  errors: [400, 404],
  async handle(request) {
    const asked = Object.fromEntries(Object.keys(filters).map((name) => [name, request.query.get(name) || undefined]))
    const { date, api_key_hash, user_id, group_by } = validate(filterSchema, asked)
    const to = isoTimestamp(clock.now()).slice(0, 10)
    const from = isoTimestamp(clock.now() - DAYS * DAY_MS).slice(0, 10)
    if (date !== undefined && (date < from || date > to)) {
      throw new GatewayError('invalid_request', `date: use a day from ${from} to ${to}.`)
    }
    await flush()
    const rows = await activity.read(
      {
        from: date ?? from,
        to: date ?? to,
        workspaceId: scopeOf(reachOf(request)),
        keyHash: api_key_hash,
        userId: user_id,
        byWorkspace: group_by !== undefined,
      },
      ROWS_MAX,
    )
    return jsonResponse({ data: rows.map((row) => itemOf(row, providerName)) })
  },
})

const itemOf = (row: ActivityRow, providerName: (slug: string) => string): z.output<typeof activityItem> => ({
  date: row.day,
  model: row.model,
  model_permaslug: row.model,
  endpoint_id: `${row.model} ${row.provider}`,
  provider_name: providerName(row.provider),
  requests: row.requests,
  prompt_tokens: row.tokens_prompt,
  completion_tokens: row.tokens_completion,
  reasoning_tokens: row.tokens_reasoning,
  cached_tokens: row.tokens_cached,
  usage: dollars(row.cost_nanos),
  byok_usage_inference: dollars(row.byok_cost_nanos),
  ...(row.workspace_id === '' ? {} : { workspace_id: row.workspace_id }),
})
