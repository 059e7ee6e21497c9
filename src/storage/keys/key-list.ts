/** The list of keys: filtered, sorted and paged in the query, so that a page holds nothing that its reader may not see. */
import { type ExpressionBuilder, type RawBuilder, type Selectable, sql } from 'kysely'

import type { KeyFilter, KeySort } from '../../contract/key-filter.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import type { ApiKeysTable } from '../tables/key-tables.ts'
import { containsText, endsWithText } from '../statements/match-text.ts'
import type { Schema } from '../tables/schema.ts'
import { NUMBERED_MAX, SCANNED_MAX, tableBy } from '../statements/table-by.ts'

export interface KeyListInput extends KeyFilter {
  /** Null means all workspaces. */
  readonly workspaceId: string | null
  /** Only this person's keys; null means everybody's. */
  readonly onlyUserId: string | null
  /** ISO timestamp that decides which keys have expired. */
  readonly now: string
  /** Keys to skip, for callers that page by number. */
  readonly offset: number
  readonly limit: number
}

/** The value by which each row is ordered. */
const orderedBy: Readonly<Record<KeySort, { readonly value: RawBuilder<string>; readonly direction: 'asc' | 'desc' }>> = {
  created_at: { value: sql<string>`api_keys.created_at`, direction: 'desc' },
  name: { value: sql<string>`lower(api_keys.name)`, direction: 'asc' },
  last_used_at: { value: sql<string>`api_keys.last_used_at`, direction: 'desc' },
}

/**
 * The page after `after`. What no index covers is searched for among a limited number of keys, so a page may have few keys, or none, and
 * yet not be the last. A caller that skips keys by `offset` gets a full page, or a refusal if that takes too much work.
 */
export const listKeys = async (
  database: ReadDatabase,
  input: KeyListInput,
  scannedMax = SCANNED_MAX,
  numberedMax = NUMBERED_MAX,
): Promise<KeyRows> => {
  const { limit, offset, sort } = input
  const { value, direction } = orderedBy[sort]
  const held = heldBy(input)
  if (held !== null && offset > numberedMax) return { rows: [], next: null, isCut: true }
  const end =
    held === null ? undefined : await selectKeys(database, { ...held, offset: offset + scannedMax - 1, limit: 1 }).executeTakeFirst()
  const rows = await selectKeys(database, { ...input, limit: limit + 1 })
    .$if(end !== undefined, (query) =>
      query.where(lies(database.engine, direction === 'desc' ? '>=' : '<=', value, { value: end?.sorted ?? '', hash: end?.hash ?? '' })),
    )
    .execute()
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : end
  const isCut = offset > 0 && last !== undefined && last === end
  return { rows: shown, next: last === undefined ? null : { value: last.sorted, hash: last.hash }, isCut }
}

type ReadDatabase = Pick<Database, 'engine' | 'reports'>

interface KeyRows {
  readonly rows: readonly (Selectable<ApiKeysTable> & { readonly sorted: string })[]
  /** The position after which keys were not looked at yet; null if there are none. */
  readonly next: KeyFilter['after']
  /** Keys were to be skipped by `offset`, and the page is not full, since too many keys would have to be looked at. */
  readonly isCut: boolean
}

/** The part of the filter that the index covers by itself; null if that is all of the filter. */
const heldBy = (input: KeyListInput): KeyListInput | null => {
  const open = {
    kind: null,
    purpose: null,
    q: null,
    status: 'all',
    ...(input.sort === 'created_at' ? {} : { userId: null, onlyUserId: null }),
  } as const
  const isWhole = Object.entries(open).every(([name, value]) => input[name as keyof typeof open] === value)
  return isWhole ? null : { ...input, ...open }
}

const selectKeys = ({ engine, reports }: ReadDatabase, input: KeyListInput) => {
  const { value, direction } = orderedBy[input.sort]
  const { workspaceId, onlyUserId, kind, purpose, userId, q, status, after } = input
  return reports
    .selectFrom(tableBy(engine, 'api_keys', indexFor(input)))
    .selectAll('api_keys')
    .where('api_keys.deleted_at', 'is', null)
    .select(value.as('sorted'))
    .$if(workspaceId !== null, (query) => query.where('api_keys.workspace_id', '=', workspaceId ?? ''))
    .$if(onlyUserId !== null, (query) => query.where('api_keys.creator_user_id', '=', onlyUserId ?? ''))
    .$if(userId !== null, (query) => query.where('api_keys.creator_user_id', '=', userId ?? ''))
    .$if(kind !== null, (query) => query.where('api_keys.kind', '=', kind ?? 'inference'))
    .$if(purpose !== null, (query) => query.where('api_keys.purpose', '=', purpose))
    .$if(status !== 'all', (query) => query.where((eb) => statusIs(eb, status, input.now)))
    .$if(q !== null, (query) => query.where((eb) => matches(eb, q ?? '')))
    .$if(after !== null, (query) => query.where(lies(engine, direction === 'desc' ? '<' : '>', value, after)))
    .orderBy(value, direction)
    .orderBy('api_keys.hash', direction)
    .offset(input.offset)
    .limit(input.limit)
}

/** Each index has the rows in the order of the list. */
const indexFor = ({ sort, workspaceId, onlyUserId, userId }: KeyListInput): string => {
  if (sort === 'last_used_at') return workspaceId === null ? 'api_keys_used' : 'api_keys_used_of_workspace'
  if (sort === 'name') return workspaceId === null ? 'api_keys_named' : 'api_keys_named_of_workspace'
  if (onlyUserId !== null || userId !== null) return 'api_keys_of_person'
  return workspaceId === null ? 'api_keys_newest' : 'api_keys_of_workspace'
}

const lies = (engine: Engine, compare: '<' | '<=' | '>' | '>=', value: RawBuilder<string>, at: KeyFilter['after']) =>
  // SQLite finds the place in an index on an expression only by the value alone; PostgreSQL
  // estimates worse if the condition appears twice.
  sql<boolean>`${engine === 'sqlite' ? sql`${value} ${sql.raw(compare.startsWith('<') ? '<=' : '>=')} ${at?.value ?? ''} and` : sql``}
    (${value}, api_keys.hash) ${sql.raw(compare)} (${at?.value ?? ''}, ${at?.hash ?? ''})`

const statusIs = (eb: ExpressionBuilder<Schema, 'api_keys'>, status: KeyFilter['status'], now: string) => {
  if (status === 'disabled') return eb('api_keys.disabled', '=', 1)
  if (status === 'enabled') return eb('api_keys.disabled', '=', 0)
  if (status === 'expired') return eb.and([eb('api_keys.disabled', '=', 0), eb('api_keys.expires_at', '<=', now)])
  return eb.and([eb('api_keys.disabled', '=', 0), eb.or([eb('api_keys.expires_at', 'is', null), eb('api_keys.expires_at', '>', now)])])
}

/**
 * Matches what a person remembers of a key: a part of its name, or of its holder's id, name or address, or its last characters; or the
 * whole hash.
 */
const matches = (eb: ExpressionBuilder<Schema, 'api_keys'>, text: string) =>
  eb.or([
    containsText(eb.ref('api_keys.name'), text),
    containsText(eb.ref('api_keys.creator_user_id'), text),
    // Not by exists(): for that PostgreSQL searches all members of all workspaces first, in place of those of the keys that are looked at.
    eb(
      eb
        .selectFrom('workspace_members as holder')
        .select('holder.id')
        .whereRef('holder.workspace_id', '=', 'api_keys.workspace_id')
        .whereRef('holder.user_id', '=', 'api_keys.creator_user_id')
        .where(({ or, ref }) => or([containsText(ref('holder.name'), text), containsText(ref('holder.email'), text)])),
      'is not',
      null,
    ),
    endsWithText(eb.ref('api_keys.label'), text),
    eb('api_keys.hash', '=', text),
  ])
