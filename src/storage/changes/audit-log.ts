/**
 * The record of a change and of who made it. It is written in the transaction of the change
 * itself, so there is no change without its entry.
 */
import { type Selectable, sql, type Transaction } from 'kysely'

import type { Position } from '../../contract/cursor.ts'
import type { Slice } from '../../contract/paging.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { mapInSteps, type Steps, throughout, type Turn } from '../../lib/steps.ts'
import { bumpChangeCounter } from './change-counter.ts'
import { readStored } from '../rows/damaged-row.ts'
import type { Database } from '../database.ts'
import { AnsweredBefore, claimKey, type Once, releaseKey, storeAnswer } from './idempotency.ts'
import type { AuditLogTable } from '../tables/management-tables.ts'
import type { Page } from '../statements/page.ts'
import { rowGroups } from '../rows/row-groups.ts'
import type { AuditObject, Schema } from '../tables/schema.ts'
import { NUMBERED_MAX, SCANNED_MAX, tableBy } from '../statements/table-by.ts'
import { countOf } from '../usage/workspace-counts.ts'

export interface ChangedBy {
  /**
   * The id of the request, the command or the start that makes the change. It is also the entry's id, so
   * a further change needs another one (`besides`).
   */
  readonly requestId: string
  readonly userId: string | null
  /** Null if no key was used: the change was made by a signed-in person, from the shell, or at the first start. */
  readonly keyHash: string | null
  /** Set if a signed-in person makes the change. */
  readonly sessionId?: string
}

/** Who makes a change, and when. */
export interface Change {
  readonly by: ChangedBy
  readonly now: string
}

/** For a change that a request makes in addition to its main one. */
export const besides = (by: ChangedBy, change: 'content' | 'playground-key'): ChangedBy => ({
  ...by,
  requestId: `${by.requestId}-${change}`,
})

export interface AuditedChange {
  /** The workspace that owns the object, and so can read the entry. */
  readonly workspaceId: string
  /** `created`, `updated`, `deleted` … */
  readonly action: string
  readonly objectType: AuditObject
  readonly objectId: string
  /** The object as the API shows it, that is, without secrets. `before` is null if it was created, `after` is null if it was deleted. */
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

export interface AuditEntry extends Omit<AuditedChange, 'objectType'>, ChangedBy {
  /** An entry written by another version may be about a kind of object that this version does not know. */
  readonly objectType: string
  readonly createdAt: string
}

/** `audit` is null if nothing was changed after all. */
interface Outcome<Result> {
  readonly result: Result
  readonly audit: AuditedChange | null
  /** Set if only the work itself finds out who made the change. */
  readonly by?: ChangedBy
}

/**
 * The only way to change what a management key manages: the work, its entry and the change counter, all or nothing. With `once`, this
 * includes the claim of an Idempotency-Key and the answer; throws AnsweredBefore if the change was made before.
 */
export const recordChange = <Result>(
  database: Database,
  { by, now, once }: Change & { readonly once?: Once<Result> | undefined },
  work: (transaction: Transaction<Schema>) => Promise<Outcome<Result>>,
): Promise<Result> =>
  database.transaction(async (transaction) => {
    const earlier = once === undefined ? null : await claimKey(transaction, once.claim, once.seal)
    if (earlier !== null) throw new AnsweredBefore(earlier)
    const { result, audit, by: reported = by } = await work(transaction)
    if (once !== undefined) {
      if (audit === null) await releaseKey(transaction, once.claim)
      else await storeAnswer(transaction, once.claim, await once.answer(result), once.seal)
    }
    if (audit !== null) {
      await writeEntry(transaction, { ...audit, ...reported, createdAt: now })
      await bumpChangeCounter(transaction)
    }
    return result
  })

const writeEntry = (transaction: Transaction<Schema>, entry: AuditEntry): Promise<unknown> =>
  transaction
    .insertInto('audit_log')
    .values({
      id: entry.requestId,
      created_at: entry.createdAt,
      workspace_id: entry.workspaceId,
      user_id: entry.userId,
      key_hash: entry.keyHash,
      session_id: entry.sessionId ?? null,
      action: entry.action,
      object_type: entry.objectType,
      object_id: entry.objectId,
      before: textOf(entry.before),
      after: textOf(entry.after),
    })
    .execute()

export interface AuditLog {
  /** Writes an entry about a read: nothing was changed, so no cache has to be dropped. */
  note(entry: AuditedChange, change: Change): Promise<void>
  /** Newest first. `workspaceId` null means all workspaces. */
  list(filter: AuditFilter & Slice): Promise<Page<AuditEntry>>
  /** True if a list would count or skip more entries than is allowed (`numberedMax`). `after` does not affect a total. */
  isLong(filter: AuditFilter, offset: number): Promise<boolean>
  /**
   * The entries after `after`, without a count. Looks through a limited number of entries, so a page may
   * have few entries, or none, and yet not be the last.
   */
  page(filter: AuditFilter, limit: number): Promise<AuditPage>
}

export interface AuditFilter {
  readonly workspaceId: string | null
  readonly objectType?: string | undefined
  readonly objectId?: string | undefined
  readonly userId?: string | undefined
  readonly action?: string | undefined
  /** ISO timestamps; `to` is exclusive. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** The entry after which the page begins. */
  readonly after?: Position | undefined
}

export interface AuditPage {
  readonly items: readonly AuditEntry[]
  /** The position after which entries were not looked at yet; null if there are none. */
  readonly next: Position | null
}

export const createAuditLog = (
  database: Database,
  startTurn: () => Turn,
  scannedMax = SCANNED_MAX,
  numberedMax = NUMBERED_MAX,
): AuditLog => ({
  note: (entry, { by, now }) =>
    database.transaction(async (transaction) => {
      await writeEntry(transaction, { ...entry, ...by, createdAt: now })
    }),

  async list({ offset, limit, ...filter }) {
    const heads = await entries(database, filter).select(HEAD).offset(offset).limit(limit).execute()
    return { totalCount: await countEntries(database, filter), items: await readEntries(database, heads, startTurn()) }
  },

  async isLong(query, offset) {
    const filter = { ...query, after: undefined }
    if (offset > numberedMax) return true
    if (isCountedAsItComes(filter)) return false
    // Rows that an index finds are still counted one by one.
    const held = heldBy(filter) ?? filter
    return (await entries(database, held).select('id').offset(numberedMax).limit(1).executeTakeFirst()) !== undefined
  },

  async page(filter, limit) {
    const held = heldBy(filter)
    const end =
      held === null
        ? undefined
        : await entries(database, held)
            .select(['created_at', 'id'])
            .offset(scannedMax - 1)
            .limit(1)
            .executeTakeFirst()
    const heads = await entries(database, filter)
      .select(HEAD)
      .$if(end !== undefined, (query) => query.where(sql<boolean>`(created_at, id) >= (${end?.created_at ?? ''}, ${end?.id ?? ''})`))
      .limit(limit + 1)
      .execute()
    const shown = heads.slice(0, limit)
    const last = heads.length > limit ? shown.at(-1) : end
    const items = await readEntries(database, shown, startTurn())
    return { items, next: last === undefined ? null : { createdAt: last.created_at, id: last.id } }
  },
})

/** A workspace's total is kept up to date as entries come, and the position of a page does not affect it. */
const isCountedAsItComes = (filter: AuditFilter): boolean =>
  Object.entries(filter).every(([name, value]) => name === 'workspaceId' || name === 'after' || value === undefined)

const countEntries = async (database: Database, filter: AuditFilter): Promise<number> => {
  if (isCountedAsItComes(filter)) return countOf(database.reports, filter.workspaceId, ['audit_log'])
  const { count } = await matching(database, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Each index has its entries in the order of the list; the first index that fits the filter is used. */
const INDEXES: readonly (readonly [name: string, held: readonly (keyof AuditFilter)[]])[] = [
  ['audit_log_object', ['objectType', 'objectId']],
  ['audit_log_user_id', ['userId']],
  ['audit_log_workspace_id', ['workspaceId']],
  ['audit_log_created_at', []],
]

const indexFor = (filter: AuditFilter): (typeof INDEXES)[number] =>
  INDEXES.find(([, held]) => held.every((name) => (filter[name] ?? null) !== null)) ?? ['audit_log_created_at', []]

const ALWAYS_HELD: readonly (keyof AuditFilter)[] = ['from', 'to', 'after']

/** The part of the filter that the index covers by itself; null if that is all of the filter. */
const heldBy = (filter: AuditFilter): AuditFilter | null => {
  const names = [...ALWAYS_HELD, ...indexFor(filter)[1]]
  const given = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null)
  const held = given.filter(([name]) => names.some((one) => one === name))
  return held.length === given.length ? null : { workspaceId: null, ...Object.fromEntries(held) }
}

const matching = ({ engine, reports }: Pick<Database, 'engine' | 'reports'>, filter: AuditFilter) => {
  const { workspaceId, objectType, objectId, userId, action, from, to } = filter
  return reports
    .selectFrom(tableBy(engine, 'audit_log', indexFor(filter)[0]))
    .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
    .$if(objectType !== undefined, (query) => query.where('object_type', '=', objectType ?? ''))
    .$if(objectId !== undefined, (query) => query.where('object_id', '=', objectId ?? ''))
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(from !== undefined, (query) => query.where('created_at', '>=', from ?? ''))
    .$if(to !== undefined, (query) => query.where('created_at', '<', to ?? ''))
}

/** Newest first, after the position. */
const entries = (database: Pick<Database, 'engine' | 'reports'>, filter: AuditFilter) => {
  const { after, to } = filter
  // One bound on each side only: SQLite starts at the first bound that the query names.
  const bounded = after !== undefined && to !== undefined && after.createdAt < to ? { ...filter, to: undefined } : filter
  return matching(database, bounded)
    .$if(after !== undefined, (query) => query.where(sql<boolean>`(created_at, id) < (${after?.createdAt ?? ''}, ${after?.id ?? ''})`))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
}

/** The columns that give an entry's position and size: an entry about a guardrail has hundreds of kilobytes in `before` and in `after`. */
const HEAD = [
  'id',
  'created_at',
  sql<number | string>`coalesce(octet_length(${sql.ref('before')}), 0) + coalesce(octet_length(${sql.ref('after')}), 0)`.as('bytes'),
] as const

interface Head {
  readonly id: string
  readonly created_at: string
  readonly bytes: number | string
}

/** No statement reads more rows than fit in one step. */
const readEntries = async ({ reports }: Database, heads: readonly Head[], turn: Turn): Promise<AuditEntry[]> => {
  const items: AuditEntry[] = []
  for (const group of rowGroups(heads, ({ bytes }) => Number(bytes))) {
    const ids = group.map(({ id }) => id)
    const rows = await reports.selectFrom('audit_log').selectAll().where('id', 'in', ids).execute()
    const placeOf = new Map(ids.map((id, place) => [id, place]))
    rows.sort((one, other) => (placeOf.get(one.id) ?? 0) - (placeOf.get(other.id) ?? 0))
    await turn()
    items.push(...(await throughout(entriesOf(rows), turn)))
  }
  return items
}

function* entriesOf(rows: readonly Selectable<AuditLogTable>[]): Steps<AuditEntry[]> {
  return yield* mapInSteps(rows, toEntry, ({ before, after }) => (before?.length ?? 0) + (after?.length ?? 0))
}

const toEntry = (row: Selectable<AuditLogTable>): AuditEntry => ({
  requestId: row.id,
  createdAt: row.created_at,
  workspaceId: row.workspace_id,
  userId: row.user_id,
  keyHash: row.key_hash,
  ...(row.session_id === null ? {} : { sessionId: row.session_id }),
  action: row.action,
  objectType: row.object_type,
  objectId: row.object_id,
  ...readStored('audit_log', row.id, () => ({ before: objectOf(row.before), after: objectOf(row.after) })),
})

const textOf = (value: JsonObject | null): string | null => (value === null ? null : JSON.stringify(value))

/** The text was written by `textOf` only. */
const objectOf = (text: string | null): JsonObject | null => (text === null ? null : (JSON.parse(text) as JsonObject))
