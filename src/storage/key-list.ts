/** The list of keys: filtered, ordered and cut in the query, so that a page holds nothing that its reader may not see. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'

import type { KeyFilter, KeySort } from '../contract/key-query.ts'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'

export interface KeyListInput extends KeyFilter {
  /** Null: of every workspace. */
  readonly workspaceId: string | null
  /** Keys of this person alone; null: of all. */
  readonly onlyUserId: string | null
  /** ISO timestamp, by which keys have expired. */
  readonly now: string
  /** Passed over, for callers that page by numbers. */
  readonly offset: number
  readonly limit: number
}

const keys = (database: Database) =>
  database.kysely
    .selectFrom('api_keys')
    .leftJoin('key_uses', 'key_uses.key_hash', 'api_keys.hash')
    .selectAll('api_keys')
    .select('key_uses.last_used_at')
    .where('api_keys.deleted_at', 'is', null)

/** The value by which each row is ordered. */
const orderedBy: Readonly<Record<KeySort, { readonly value: RawBuilder<string>; readonly direction: 'asc' | 'desc' }>> = {
  created_at: { value: sql<string>`api_keys.created_at`, direction: 'desc' },
  name: { value: sql<string>`lower(api_keys.name)`, direction: 'asc' },
  last_used_at: { value: sql<string>`coalesce(key_uses.last_used_at, '')`, direction: 'desc' },
}

export const listKeys = (database: Database, input: KeyListInput) => {
  const { value, direction } = orderedBy[input.sort]
  const { workspaceId, onlyUserId, kind, purpose, userId, q, status, after } = input
  return keys(database)
    .select(value.as('sorted'))
    .$if(workspaceId !== null, (query) => query.where('api_keys.workspace_id', '=', workspaceId ?? ''))
    .$if(onlyUserId !== null, (query) => query.where('api_keys.creator_user_id', '=', onlyUserId ?? ''))
    .$if(userId !== null, (query) => query.where('api_keys.creator_user_id', '=', userId ?? ''))
    .$if(kind !== null, (query) => query.where('api_keys.kind', '=', kind ?? 'inference'))
    .$if(purpose !== null, (query) => query.where('api_keys.purpose', '=', purpose))
    .$if(status !== 'all', (query) => query.where((eb) => statusIs(eb, status, input.now)))
    .$if(q !== null, (query) => query.where((eb) => matches(eb, q ?? '')))
    .$if(after !== null, (query) =>
      query.where(
        direction === 'desc'
          ? sql<boolean>`(${value}, api_keys.hash) < (${after?.value ?? ''}, ${after?.hash ?? ''})`
          : sql<boolean>`(${value}, api_keys.hash) > (${after?.value ?? ''}, ${after?.hash ?? ''})`,
      ),
    )
    .orderBy(value, direction)
    .orderBy('api_keys.hash', direction)
    .offset(input.offset)
    .limit(input.limit)
    .execute()
}

const statusIs = (eb: ExpressionBuilder<Schema, 'api_keys'>, status: KeyFilter['status'], now: string) => {
  if (status === 'disabled') return eb('api_keys.disabled', '=', 1)
  if (status === 'enabled') return eb('api_keys.disabled', '=', 0)
  if (status === 'expired') return eb.and([eb('api_keys.disabled', '=', 0), eb('api_keys.expires_at', '<=', now)])
  return eb.and([eb('api_keys.disabled', '=', 0), eb.or([eb('api_keys.expires_at', 'is', null), eb('api_keys.expires_at', '>', now)])])
}

/** The part of a key that a person remembers: a part of its name or of its holder, or its last characters. */
const matches = (eb: ExpressionBuilder<Schema, 'api_keys'>, text: string) => {
  const part = `%${escaped(text.toLowerCase())}%`
  return eb.or([
    sql<boolean>`lower(api_keys.name) like ${part} escape '\\'`,
    sql<boolean>`lower(api_keys.creator_user_id) like ${part} escape '\\'`,
    sql<boolean>`api_keys.label like ${`%${escaped(text)}`} escape '\\'`,
    eb('api_keys.hash', '=', text),
  ])
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, (sign) => `\\${sign}`)
