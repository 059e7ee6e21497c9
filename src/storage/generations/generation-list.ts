/** The request log: generations by filter, newest first, page by page. */
import { sql, type SqlBool } from 'kysely'

import type { Position } from '../../contract/cursor.ts'
import { isoTimestamp } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { type GenerationFilter, indexFor, matching } from './generation-filter.ts'
import { type StoredGeneration, toStoredGeneration } from './generation-store.ts'
import { newestHour } from '../usage/newest-hour.ts'
import { SCANNED_MAX as HOURS_SCANNED_MAX, tableBy } from '../statements/table-by.ts'

export interface ListedGeneration extends StoredGeneration {
  readonly hasContent: boolean
  /** ISO timestamp; null if the record was written by an older version. */
  readonly endedAt: string | null
}

export interface GenerationList {
  /**
   * The page after the position. Looks through a limited number of records, so a page may have
   * few rows, or none, and yet not be the last.
   */
  page(filter: GenerationFilter, after: Position | null, limit: number): Promise<GenerationPage>
  /** The generations that ended at this time or later, in the order of their ends. */
  ended(filter: GenerationFilter, since: string, limit: number): Promise<readonly EndedGeneration[]>
  /** The presets with this slug in the workspace, or in any workspace if null. */
  presetIds(slug: string, workspaceId: string | null): Promise<readonly string[]>
  /** In the order of the ids; ids that no longer exist are left out. */
  byIds(ids: readonly string[]): Promise<readonly ListedGeneration[]>
}

export interface GenerationPage {
  readonly rows: readonly ListedGeneration[]
  /** The position after which records were not looked at yet; null if there are none. */
  readonly next: Position | null
}

export interface EndedGeneration {
  readonly id: string
  readonly endedAt: string
}

/** One bound on each side only: SQLite starts at the first bound that the query names, and would read everything up to the nearer one. */
const behind = (filter: GenerationFilter, after: Position | null): GenerationFilter =>
  after !== null && filter.to !== null && after.createdAt < filter.to ? { ...filter, to: null } : filter

/** This many records are looked through in far less than 200 ms, whatever the filter. */
const SCANNED_MAX = 10_000

/**
 * A filter by guardrail must read the whole record, and such records lie far apart in the file, so
 * a page looks at fewer of them by this factor.
 */
const TIMES_FEWER = 10

const HOUR_MS = 60 * 60 * 1000

/** Leaves out records that are newer than this hour. */
const endingWith = (filter: GenerationFilter, hour: string): GenerationFilter => {
  const end = isoTimestamp(Date.parse(`${hour}:00:00.000Z`) + HOUR_MS)
  return filter.to !== null && filter.to < end ? filter : { ...filter, to: end }
}

/** The earlier of the two times: nothing that begins later is wanted. */
const lastTime = ({ to }: GenerationFilter, after: Position | null): string | null =>
  after === null || (to !== null && to < after.createdAt) ? to : after.createdAt

export const createGenerationList = (
  database: Pick<Database, 'engine' | 'reports'>,
  scannedMax = SCANNED_MAX,
  hoursScannedMax = HOURS_SCANNED_MAX,
): GenerationList => {
  const { engine, reports } = database
  const byIds: GenerationList['byIds'] = async (ids) => {
    if (ids.length === 0) return []
    const rows = await reports
      .selectFrom('generations')
      .leftJoin('api_keys', 'api_keys.hash', 'generations.key_hash')
      .selectAll('generations')
      .select('api_keys.name as key_name')
      .where('generations.id', 'in', ids)
      .execute()
    const kept = await reports.selectFrom('generation_contents').select('id').where('id', 'in', ids).execute()
    const withContent = new Set(kept.map(({ id }) => id))
    const found = new Map(
      rows.map((row) => [row.id, { ...toStoredGeneration(row), endedAt: row.ended_at, hasContent: withContent.has(row.id) }]),
    )
    return ids.flatMap((id) => found.get(id) ?? [])
  }
  return {
    byIds,
    async presetIds(slug, workspaceId) {
      const rows = await reports
        .selectFrom('presets')
        .select('id')
        .where('slug', '=', slug)
        .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
        .execute()
      return rows.map(({ id }) => id)
    },
    async page(asked, after, limit) {
      const hour = indexFor(asked).isWhole ? undefined : await newestHour(database, asked, lastTime(asked, after), hoursScannedMax)
      if (hour === null) return { rows: [], next: null }
      const filter = hour === undefined ? asked : endingWith(asked, hour)
      const index = indexFor(filter)
      const most = filter.guardrailId === undefined ? scannedMax : Math.ceil(scannedMax / TIMES_FEWER)
      const rowsOf = (wanted: GenerationFilter) =>
        reports
          .selectFrom(tableBy(engine, 'generations', index.name))
          .select(['created_at', 'id'])
          .where(matching(behind(wanted, after)))
          .$if(after !== null, (query) => query.where(sql<SqlBool>`(created_at, id) < (${after?.createdAt ?? ''}, ${after?.id ?? ''})`))
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
      // A condition that the index does not cover may fit one record in a million: records after `end` are left for the next page.
      const end = index.isWhole
        ? undefined
        : await rowsOf(index.held)
            .offset(most - 1)
            .limit(1)
            .executeTakeFirst()
      // Only the ids first, so that as little as possible is read of rows that do not match or are on another page.
      const rows = await rowsOf(end === undefined ? filter : { ...filter, from: end.created_at })
        .$if(end !== undefined, (query) =>
          query.where((eb) => eb.or([eb('created_at', '>', end?.created_at ?? ''), eb('id', '>=', end?.id ?? '')])),
        )
        .limit(limit + 1)
        .execute()
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : end
      return { rows: await byIds(shown.map(({ id }) => id)), next: last === undefined ? null : { createdAt: last.created_at, id: last.id } }
    },
    async ended(filter, since, limit) {
      const rows = await reports
        .selectFrom(tableBy(engine, 'generations', 'generations_ended'))
        .select(['id', 'ended_at'])
        .where('ended_at', '>=', since)
        .where(matching(filter))
        .orderBy('ended_at')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ id, ended_at }) => ({ id, endedAt: ended_at ?? '' }))
    },
  }
}
