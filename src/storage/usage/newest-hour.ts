/** Uses the hourly usage to find where matching requests begin in the request log, so that hours without any are not searched. */
import { type Expression, type ExpressionBuilder, sql, type SqlBool } from 'kysely'

import type { Database } from '../database.ts'
import { type GenerationFilter, valuesAsked } from '../generations/generation-filter.ts'
import type { Schema } from '../tables/schema.ts'
import { HOUR_LENGTH } from './usage-hours.ts'

/**
 * The newest hour (`YYYY-MM-DDTHH`) of the range that may have matching requests; null if none has. Looks through at most `scannedMax`
 * rows; if none of those matches, it returns the hour of the last of them.
 */
export const newestHour = async (
  { reports }: Pick<Database, 'reports'>,
  filter: GenerationFilter,
  before: string | null,
  scannedMax: number,
): Promise<string | null> => {
  const rows = () =>
    reports
      .selectFrom('usage_hours')
      .$if(before !== null, (query) => query.where('hour', '<=', (before ?? '').slice(0, HOUR_LENGTH)))
      .orderBy('hour', 'desc')
  const fromHour = filter.from.slice(0, HOUR_LENGTH)
  const end = await rows()
    .select(['hour', 'workspace_id', 'key_hash'])
    .where('hour', '>=', fromHour)
    .orderBy('workspace_id', 'desc')
    .orderBy('key_hash', 'desc')
    .offset(scannedMax - 1)
    .limit(1)
    .executeTakeFirst()
  const found = await rows()
    .select('hour')
    // One bound on each side only: SQLite stops at one bound, and checks each row before it against the others.
    .where(
      end === undefined
        ? (eb) => eb('hour', '>=', fromHour)
        : sql<SqlBool>`(hour, workspace_id, key_hash) >= (${end.hour}, ${end.workspace_id}, ${end.key_hash})`,
    )
    .where((eb) => eb.and([...valuesAsked(filter), ...CONDITIONS.flatMap((condition) => condition(filter, eb) ?? [])]))
    .limit(1)
    .executeTakeFirst()
  return (found ?? end)?.hour ?? null
}

type Condition = (filter: GenerationFilter, eb: ExpressionBuilder<Schema, 'usage_hours'>) => Expression<SqlBool> | null

/** The columns that an hour has in another form than a request. Each condition lets every hour through that has a matching request. */
const CONDITIONS: readonly Condition[] = [
  ({ status }, eb) =>
    status === undefined ? null : status === 'cancelled' ? eb('cancelled', '>', 0) : eb('error_type', status === 'error' ? '!=' : '=', ''),
  ({ presetIds }, eb) => (presetIds === undefined ? null : presetIds.length === 0 ? sql<SqlBool>`1 = 0` : eb('preset_id', 'in', presetIds)),
  ({ hasPreset }, eb) => (hasPreset === undefined ? null : eb('preset_id', hasPreset ? '!=' : '=', '')),
]
