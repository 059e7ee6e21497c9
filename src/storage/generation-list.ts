/** The request log: generations by what a person asks for, newest first, by the page. */
import { sql } from 'kysely'

import type { Position } from '../contract/cursor.ts'
import type { Database } from './database.ts'
import { type GenerationFilter, indexedGenerations, matching, tableBy } from './generation-filter.ts'
import { type StoredGeneration, toStoredGeneration } from './generation-store.ts'

export interface ListedGeneration extends StoredGeneration {
  readonly hasContent: boolean
  /** ISO timestamp; null for one of an older version. */
  readonly endedAt: string | null
}

export interface GenerationList {
  /** Behind the position. */
  page(filter: GenerationFilter, after: Position | null, limit: number): Promise<readonly ListedGeneration[]>
  /** Those that ended at this time or later, the first first. */
  ended(filter: GenerationFilter, since: string, limit: number): Promise<readonly EndedGeneration[]>
  /** The presets that have this slug, in the workspace, or, with null, in any. */
  presetIds(slug: string, workspaceId: string | null): Promise<readonly string[]>
  /** In the order of the ids; those that are gone are left out. */
  byIds(ids: readonly string[]): Promise<readonly ListedGeneration[]>
}

export interface EndedGeneration {
  readonly id: string
  readonly endedAt: string
}

export const createGenerationList = (database: Pick<Database, 'engine' | 'reports'>): GenerationList => {
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
    // The ids first: of what does not fit, or is on another page, nothing but the index is read.
    async page(filter, after, limit) {
      const rows = await reports
        .selectFrom(indexedGenerations(engine, filter))
        .select('id')
        .where(matching(filter))
        .$if(after !== null, (query) => query.where(sql<boolean>`(created_at, id) < (${after?.createdAt ?? ''}, ${after?.id ?? ''})`))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return byIds(rows.map(({ id }) => id))
    },
    async ended(filter, since, limit) {
      const rows = await reports
        .selectFrom(tableBy(engine, 'generations_ended'))
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
