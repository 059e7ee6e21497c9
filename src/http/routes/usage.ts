/** The usage of models, for charts and bills (docs/contract/management.md#usage). */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { readTimeRange } from '../../contract/time-range.ts'
import { usageAnswer, type usageDimension, usageQuery } from '../../contract/usage.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import { csvLine, type CsvCell } from '../../lib/text/csv.ts'
import { movedDecimal } from '../../lib/decimal.ts'
import { dollars } from '../../lib/money.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import type { GenerationList } from '../../storage/generations/generation-list.ts'
import {
  MINUTE_RECORDS_MAX,
  type UsageGroup,
  type UsageInterval,
  type UsageNames,
  type UsageQuery,
  type UsageSeriesStore,
  type UsageSums,
} from '../../storage/usage/usage-series.ts'
import { acceptsCsv, csvHeaders } from '../response/csv-stream.ts'
import { jsonResponse } from '../response/json-response.ts'
import type { PacedReads } from '../paced-reads.ts'
import { changedBy, reachOf, type Route } from '../route.ts'

export interface UsageRouteParts {
  readonly usage: UsageSeriesStore
  readonly list: Pick<GenerationList, 'presetIds'>
  readonly auditLog: Pick<AuditLog, 'note'>
  readonly reads: PacedReads
  readonly clock: Clock
  /** Resolves when everything that was answered before is counted. */
  readonly flush: () => Promise<void>
}

type Dimension = z.output<typeof usageDimension>

const TOP = 8
/** The longest range in days, so that no answer has more points than a chart. */
const DAYS_MAX: Readonly<Record<UsageInterval, number>> = { minute: 0.25, hour: 31, day: 400, month: 3660 }
const querySchema = z.object(usageQuery)

export const usageRoute = ({ usage, list, auditLog, reads, clock, flush }: UsageRouteParts): Route => ({
  method: 'GET',
  path: '/usage',
  operation: 'getUsage',
  summary: 'Read use and cost in time, by key, model, provider, preset, person or workspace',
  tag: 'Generations',
  policy: 'own',
  surface: 'management',
  query: { ...usageQuery, ...inWorkspace },
  answers: {
    200: {
      description: 'The series and its groups; with `Accept: text/csv` the series as a table.',
      schema: usageAnswer,
      types: ['text/csv'],
    },
  },
  errors: [400, 404, 503],
  async handle(request) {
    const given = Object.fromEntries(Object.keys(usageQuery).map((name) => [name, request.query.get(name) || undefined]))
    const asked = validate(querySchema, given)
    const { interval: wanted = 'day', group_by: groupBy = [], top, sort = 'cost' } = asked
    const nowMs = clock.now()
    const asRead = readTimeRange(asked, { nowMs, daysMax: DAYS_MAX[wanted], ...defaultRange(wanted) })
    const reach = reachOf(request)
    const workspaceId = scopeOf(reach)
    await flush()
    const { series, names, range, interval } = await reads.run(request, 'getUsage', async () => {
      const presetIds = asked.preset === undefined ? undefined : await list.presetIds(asked.preset, workspaceId)
      const query = (interval: UsageInterval): UsageQuery => ({
        ...wholeIntervals(asRead, interval, nowMs),
        interval,
        groupBy,
        top: top === undefined ? TOP : Number(top),
        sort,
        workspaceId,
        ownedBy: reach.onlyUserId,
        only: {
          ...(asked.model === undefined ? {} : { model: asked.model }),
          ...(asked.provider === undefined ? {} : { provider: asked.provider }),
          ...(presetIds === undefined ? {} : { preset: presetIds }),
          ...(asked.preset_version === undefined ? {} : { preset_version: Number(asked.preset_version) }),
          ...(asked.key === undefined ? {} : { key: asked.key }),
          ...(asked.user_id === undefined ? {} : { user: asked.user_id }),
          ...(asked.interface === undefined ? {} : { interface: asked.interface }),
          ...(asked.error_type === undefined ? {} : { error_type: asked.error_type }),
        },
      })
      const interval = wanted === 'minute' && (await usage.isDense(query(wanted))) ? 'hour' : wanted
      const { from, to } = query(interval)
      const found = await usage.read(query(interval))
      return { series: found, names: await usage.names({ groupBy, workspaceId }, found), range: { from, to }, interval }
    })
    if (acceptsCsv(request.headers)) {
      const entry = { action: 'exported', objectType: 'generations', objectId: 'usage', before: null } as const
      const after = Object.fromEntries([...request.query].filter(([, value]) => value !== ''))
      await auditLog.note({ ...entry, workspaceId: reach.workspaceId, after }, { by: changedBy(request), now: isoTimestamp(nowMs) })
      // A last column, as the newest amounts are.
      const hasPeople = groupBy.includes('user')
      const lines = series.points.map(({ time, group, ...sums }) => [
        time,
        ...cellsOf(groupBy, group, names),
        ...AMOUNTS.map(([, cell]) => cell(sums)),
        ...(hasPeople ? [valuesOf(groupBy, group, names)['user_name'] ?? null] : []),
      ])
      const head = [
        'time',
        ...groupBy.flatMap((dimension) => columnsOf(dimension)),
        ...(groupBy.length === 0 ? [] : ['other']),
        ...AMOUNTS.map(([column]) => column),
        ...(hasPeople ? ['user_name'] : []),
      ]
      return new Response([head, ...lines].map(csvLine).join(''), { headers: csvHeaders('usage.csv') })
    }
    return jsonResponse({
      ...range,
      interval,
      coarser: interval === wanted ? null : { asked: wanted, reason: 'too_many_records', records_max: MINUTE_RECORDS_MAX },
      data: series.points.map(({ time, group, ...sums }) => ({ time, ...valuesOf(groupBy, group, names), ...amountsOf(sums) })),
      groups: series.groups.map(({ group, ...sums }) => ({ ...valuesOf(groupBy, group, names), ...amountsOf(sums) })),
    })
  },
})

const HOUR_MS = 60 * 60 * 1000

const defaultRange = (interval: UsageInterval): { readonly fromDefaultMs?: number } =>
  interval === 'minute' ? { fromDefaultMs: HOUR_MS } : {}

/** Sums are of whole hours, or of whole minutes if the interval is a minute. */
const wholeIntervals = (
  { from, to }: { readonly from: string; readonly to: string | null },
  interval: UsageInterval,
  nowMs: number,
): { readonly from: string; readonly to: string } => {
  const stepMs = interval === 'minute' ? HOUR_MS / 60 : HOUR_MS
  const end = to === null ? nowMs + 1 : Date.parse(to)
  return {
    from: isoTimestamp(Math.floor(Date.parse(from) / stepMs) * stepMs),
    to: isoTimestamp(Math.ceil(end / stepMs) * stepMs),
  }
}

/** The values of a group by dimension, with their display names; null if there is none, and for the group of all others. */
const valuesOf = (
  groupBy: readonly Dimension[],
  group: UsageGroup,
  names: UsageNames,
): Record<string, string | number | boolean | null> => {
  const shown: Record<string, string | number | boolean | null> = group === null ? { other: true } : {}
  for (const [at, dimension] of groupBy.entries()) {
    const value = group?.[at]
    const isNone = value === undefined || value === '' || value === 0
    const id = isNone ? null : value
    const called = isNone ? null : (names.get(String(value)) ?? null)
    if (dimension === 'preset') shown['preset'] = called ?? id
    else shown[dimension] = id
    const named = NAMED[dimension]
    if (named !== undefined) shown[named] = called
  }
  return shown
}

const NAMED: Partial<Record<Dimension, string>> = { key: 'key_name', user: 'user_name', workspace: 'workspace_slug' }

const columnsOf = (dimension: Dimension): readonly string[] => {
  const named = NAMED[dimension]
  return named === undefined || dimension === 'user' ? [dimension] : [dimension, named]
}

const cellsOf = (groupBy: readonly Dimension[], group: UsageGroup, names: UsageNames): readonly CsvCell[] => {
  if (groupBy.length === 0) return []
  const shown = valuesOf(groupBy, group, names)
  return [...groupBy.flatMap((dimension) => columnsOf(dimension).map((column) => shown[column] ?? null)), group === null]
}

export const amountsOf = (sums: UsageSums) => ({
  requests: sums.requests,
  errors: sums.errors,
  cancelled: sums.cancelled,
  tokens_prompt: sums.tokens_prompt,
  tokens_completion: sums.tokens_completion,
  tokens_reasoning: sums.tokens_reasoning,
  tokens_cache_read: sums.tokens_cache_read,
  tokens_cache_write: sums.tokens_cache_write,
  cost: dollars(sums.cost_nanos),
  byok_cost: dollars(sums.byok_cost_nanos),
  estimated_requests: sums.estimated_requests,
  estimated_cost: dollars(sums.estimated_nanos),
  unpriced_requests: sums.unpriced_requests,
  ttft_p50: sums.ttftP50,
  ttft_p95: sums.ttftP95,
  ttft_p99: sums.ttftP99,
  total_p50: sums.totalP50,
  total_p95: sums.totalP95,
  total_p99: sums.totalP99,
})

/** Amounts in a table are exact: they are the stored digits. */
const AMOUNTS: readonly (readonly [column: string, cell: (sums: UsageSums) => CsvCell])[] = [
  ['requests', ({ requests }) => requests],
  ['errors', ({ errors }) => errors],
  ['cancelled', ({ cancelled }) => cancelled],
  ['tokens_prompt', (sums) => sums.tokens_prompt],
  ['tokens_completion', (sums) => sums.tokens_completion],
  ['tokens_reasoning', (sums) => sums.tokens_reasoning],
  ['tokens_cache_read', (sums) => sums.tokens_cache_read],
  ['tokens_cache_write', (sums) => sums.tokens_cache_write],
  ['cost_usd', (sums) => movedDecimal(sums.cost_nanos, -9)],
  ['byok_cost_usd', (sums) => movedDecimal(sums.byok_cost_nanos, -9)],
  ['estimated_requests', (sums) => sums.estimated_requests],
  ['estimated_cost_usd', (sums) => movedDecimal(sums.estimated_nanos, -9)],
  ['unpriced_requests', (sums) => sums.unpriced_requests],
  ['ttft_p50_ms', ({ ttftP50 }) => ttftP50],
  ['ttft_p95_ms', ({ ttftP95 }) => ttftP95],
  ['total_p50_ms', ({ totalP50 }) => totalP50],
  ['total_p95_ms', ({ totalP95 }) => totalP95],
  // Added as the last columns, since a program may read the earlier ones by position.
  ['ttft_p99_ms', ({ ttftP99 }) => ttftP99],
  ['total_p99_ms', ({ totalP99 }) => totalP99],
]
