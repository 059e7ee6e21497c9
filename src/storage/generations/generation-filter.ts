/** The filter of the request log as conditions of a query, and the index that SQLite must use for it. */
import { type ExpressionBuilder, type Expression, type SqlBool, sql } from 'kysely'

import { holdsText } from '../statements/match-text.ts'
import type { Schema } from '../tables/schema.ts'

export interface GenerationFilter {
  /** ISO timestamps: from the first (inclusive) to the second (exclusive); null means no end. */
  readonly from: string
  readonly to: string | null
  /** Null means all workspaces. */
  readonly workspaceId: string | null
  /** Only requests of this person's keys, whatever else is asked for; null means everybody. */
  readonly ownedBy: string | null
  readonly status?: 'ok' | 'error' | 'cancelled' | undefined
  readonly errorType?: string | undefined
  readonly model?: string | undefined
  /** A slug. */
  readonly provider?: string | undefined
  /** The ids of the presets with one slug: one in each workspace. */
  readonly presetIds?: readonly string[] | undefined
  readonly presetVersion?: number | undefined
  readonly keyHash?: string | undefined
  readonly userId?: string | undefined
  readonly sessionId?: string | undefined
  readonly requestId?: string | undefined
  readonly interface?: string | undefined
  readonly minCostNanos?: number | undefined
  readonly minTotalMs?: number | undefined
  readonly hasContent?: boolean | undefined
  readonly hasPreset?: boolean | undefined
  /** Only requests in which any guardrail found something, in the request or its answer. */
  readonly hasFinds?: true | undefined
  /** A guardrail that found something there. */
  readonly guardrailId?: string | undefined
}

type Generations = ExpressionBuilder<Schema, 'generations'>

/** All conditions together. */
export const matching =
  (filter: GenerationFilter) =>
  (eb: Generations): Expression<SqlBool> =>
    eb.and([...valuesAsked(filter), ...CONDITIONS.flatMap((condition) => condition(filter, eb) ?? [])])

/** The conditions that ask for one value of a column, which the hourly usage has too. */
export const valuesAsked = (filter: GenerationFilter): readonly Expression<SqlBool>[] =>
  COLUMNS.flatMap(([member, column]) => {
    const value = filter[member] ?? null
    return value === null ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`]
  })

const COLUMNS = [
  ['workspaceId', 'workspace_id'],
  ['ownedBy', 'user_id'],
  ['errorType', 'error_type'],
  ['model', 'model'],
  ['provider', 'provider'],
  ['presetVersion', 'preset_version'],
  ['keyHash', 'key_hash'],
  ['userId', 'user_id'],
  ['interface', 'interface'],
] as const satisfies readonly (readonly [keyof GenerationFilter, keyof Schema['generations'] & keyof Schema['usage_hours']])[]

const CONTENT = sql<SqlBool>`exists (select 1 from generation_contents where generation_contents.id = generations.id)`

/** In exactly the words of its index: neither engine would use the index if the number were a parameter. */
const FINDS = sql<SqlBool>`guardrail_hits > 0`

type Condition = (filter: GenerationFilter, eb: Generations) => Expression<SqlBool> | null

const CONDITIONS: readonly Condition[] = [
  ({ from }, eb) => eb('created_at', '>=', from),
  ({ to }, eb) => (to === null ? null : eb('created_at', '<', to)),
  ({ status }, eb) => (status === undefined ? null : statusIs(status, eb)),
  ({ presetIds }, eb) => (presetIds === undefined ? null : isOneOf('preset_id', presetIds, eb)),
  ({ sessionId }, eb) => (sessionId === undefined ? null : eb('session_id', '=', sessionId)),
  ({ requestId }, eb) => (requestId === undefined ? null : eb('request_id', '=', requestId)),
  ({ minCostNanos }, eb) => (minCostNanos === undefined ? null : eb('cost_nanos', '>=', minCostNanos)),
  ({ minTotalMs }, eb) => (minTotalMs === undefined ? null : eb('total_ms', '>=', minTotalMs)),
  ({ hasContent }) => (hasContent === true ? CONTENT : null),
  ({ hasContent }) => (hasContent === false ? sql<SqlBool>`not ${CONTENT}` : null),
  ({ hasPreset }, eb) => (hasPreset === undefined ? null : eb('preset_id', hasPreset ? 'is not' : 'is', null)),
  ({ hasFinds, guardrailId }) => (hasFinds === undefined && guardrailId === undefined ? null : FINDS),
  ({ guardrailId }, eb) => (guardrailId === undefined ? null : holdsText(eb.ref('record'), nameOf(guardrailId))),
]

/** As the stages of a record name their guardrail: in JSON, so that no untrusted text can look like it. */
const nameOf = (guardrailId: string): string => JSON.stringify({ guardrail_id: guardrailId }).slice(1, -1)

/** With a single value the rows come in the order of the index and need no sort. */
const isOneOf = (column: 'preset_id', values: readonly string[], eb: Generations): Expression<SqlBool> => {
  const [only] = values
  if (only === undefined) return sql<SqlBool>`1 = 0`
  return values.length === 1 ? eb(column, '=', only) : eb(column, 'in', values)
}

const statusIs = (status: NonNullable<GenerationFilter['status']>, eb: Generations): Expression<SqlBool> => {
  if (status === 'cancelled') return eb('cancelled', '=', 1)
  if (status === 'error') return eb('error_type', 'is not', null)
  return eb.and([eb('cancelled', '=', 0), eb('error_type', 'is', null)])
}

/** How SQLite finds generations. */
export interface FilterIndex {
  readonly name: string
  /** The part of the filter that the index covers by itself: every row that it reads matches this part. */
  readonly held: GenerationFilter
  /** The index covers the whole filter. */
  readonly isWhole: boolean
}

/** The index that reads the fewest rows. */
export const indexFor = (filter: GenerationFilter): FilterIndex => {
  for (const [name, holds] of INDEXES) {
    const conditions = holds(filter)
    if (conditions === null) continue
    const held: GenerationFilter = { from: filter.from, to: filter.to, workspaceId: null, ownedBy: null, ...conditions }
    const isWhole = (Object.keys(filter) as (keyof GenerationFilter)[]).every(
      (member) => (filter[member] ?? null) === (held[member] ?? null),
    )
    return { name, held, isWhole }
  }
  throw new Error('The last index serves every filter.')
}

const NEWEST = 'generations_newest'

type Holds = (filter: GenerationFilter) => Partial<GenerationFilter> | null

/** The first index that fits is used. SQLite uses the index of a column only if the query compares that column. */
const INDEXES: readonly (readonly [name: string, holds: Holds])[] = [
  ['generations_request', ({ requestId }) => (requestId === undefined ? null : { requestId })],
  ['generations_session', ({ sessionId }) => (sessionId === undefined ? null : { sessionId })],
  ['generations_finds', ({ guardrailId }) => (guardrailId === undefined ? null : { hasFinds: true })],
  ['generations_errors', ({ status, errorType }) => (status === 'error' || errorType !== undefined ? { status: 'error' } : null)],
  ['generations_preset', ({ presetIds }) => (presetIds === undefined || presetIds.length === 0 ? null : { presetIds })],
  ['generations_key', ({ keyHash }) => (keyHash === undefined ? null : { keyHash })],
  ['generations_user', ({ ownedBy }) => (ownedBy === null ? null : { ownedBy })],
  ['generations_user', ({ userId }) => (userId === undefined ? null : { userId })],
  ['generations_model', ({ model }) => (model === undefined ? null : { model })],
  ['generations_workspace', ({ workspaceId }) => (workspaceId === null ? null : { workspaceId })],
  [NEWEST, () => ({})],
]
