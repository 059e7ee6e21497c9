/**
 * Finds things by a piece of their name or by their id: a few of each kind. Each look goes through a limited
 * number of rows of one index. So whole ids, beginnings of names and the last four characters of a key are always
 * found, and other pieces of a name only among the newest.
 */
import { type RawBuilder, sql } from 'kysely'

import { generationId } from '../../contract/generation.ts'
import type { Database } from '../database.ts'
import type { Engine } from '../engine.ts'
import { beginsWithText, containsText, endsWithText, lowerText } from '../statements/match-text.ts'
import { SCANNED_MAX, tableBy } from '../statements/table-by.ts'

export interface SearchScope {
  /** Null means every workspace. */
  readonly workspaceId: string | null
  /** Only what belongs to this person, and active presets; null means everything. */
  readonly ownedBy: string | null
}

export interface Found {
  readonly type: 'generation' | 'request' | 'preset' | 'key' | 'member'
  readonly id: string
  readonly title: string
}

export interface SearchStore {
  /** At most `limit` of each kind. */
  find(text: string, scope: SearchScope, limit: number): Promise<readonly Found[]>
}

type SearchDatabase = Pick<Database, 'engine' | 'reports'>

export const createSearchStore = (database: SearchDatabase, scannedMax = SCANNED_MAX): SearchStore => ({
  async find(text, scope, limit) {
    const found: Found[] = []
    for (const kind of kindsFor(database.engine, text, scope, scannedMax)) {
      const rows = new Map<string, Row>()
      for (const look of kind.looks) {
        for (const row of await rowsOf(database, kind, look, limit)) rows.set(JSON.stringify([row.id, row.title]), row)
      }
      const sorted = [...rows.values()].toSorted((a, b) => a.size - b.size || (a.id < b.id === (kind.direction === 'asc') ? -1 : 1))
      found.push(...sorted.slice(0, limit).map(({ id, title }) => ({ type: kind.type, id, title })))
    }
    return found
  },
})

interface Kind {
  readonly type: Found['type']
  readonly table: 'generations' | 'presets' | 'api_keys' | 'workspace_members'
  readonly columns: readonly string[]
  readonly id: string
  readonly title: Sql
  /** The smallest come first; among equals, the order of ids decides (`direction`). */
  readonly size: Sql
  readonly direction: 'asc' | 'desc'
  /** The condition for the rows that are wanted, among those that are looked through. */
  readonly wanted: Sql
  readonly looks: readonly Look[]
}

/**
 * How many rows with the same beginning are looked through: they are adjacent in the index but not in the table, from which each is read
 * separately. A wanted row rarely comes after that many unwanted ones.
 */
const ALIKE_MAX = 100

/** Adjacent rows in an index. */
interface Look {
  /** Null means the index that makes the column unique. */
  readonly index: string | null
  readonly within: Sql
  readonly order: Sql
  /** The most rows to look through. */
  readonly rows: number
}

type Sql = RawBuilder<unknown>

interface Row {
  readonly id: string
  readonly title: string
  readonly size: number
}

const rowsOf = async (
  { engine, reports }: SearchDatabase,
  { table, columns, id, title, size, direction, wanted }: Kind,
  { index, within, order, rows: looked }: Look,
  limit: number,
): Promise<readonly Row[]> => {
  const among = sql`select ${sql.join(columns.map((column) => sql.ref(column)))} from ${index === null ? sql.table(table) : tableBy(engine, table, index)}
    where ${within} order by ${order} limit ${looked}`
  const { rows } = await sql<Row>`select distinct ${sql.ref(id)} as id, ${title} as title, ${size} as size from (${among}) as looked
    where ${wanted} order by size, id ${sql.raw(direction)} limit ${limit}`.execute(reports)
  return rows
}

const kindsFor = (engine: Engine, text: string, scope: SearchScope, rows: number): readonly Kind[] => [
  ...generations(text, scope, rows),
  presets(lowerText(text), scope, rows),
  keys(engine, text, scope, rows),
  ...(scope.ownedBy === null ? [members(lowerText(text), scope, rows)] : []),
]

/** Searches by the beginning of an id; a generation's id has three forms. Newest first, since ids begin with their time. */
const generations = (text: string, { workspaceId, ownedBy }: SearchScope, rows: number): readonly Kind[] => {
  const generation = generationId(text)
  const by = { type: 'generation', prefix: 'gen-', id: 'id', begins: generation, index: null } as const
  const byRequest = { type: 'request', prefix: 'req-', id: 'request_id', begins: text, index: 'generations_request' } as const
  return [by, byRequest]
    .filter(({ prefix, begins }) => begins.startsWith(prefix))
    .map(({ type, id, begins, index }) => ({
      type,
      table: 'generations',
      columns: ['id', 'request_id', 'model', 'workspace_id', 'user_id'],
      id,
      title: sql`model`,
      size: sql`0`,
      direction: 'desc',
      wanted: both(within('workspace_id', workspaceId), within('user_id', ownedBy)),
      looks: [{ index, within: beginsWithText(sql.ref(id), begins), order: sql`${sql.ref(id)} desc`, rows }],
    }))
}

const presets = (text: string, { workspaceId, ownedBy }: SearchScope, rows: number): Kind => {
  const slug = sql<string>`lower(slug)`
  const name = sql<string>`lower(name)`
  const ofWorkspace = workspaceId === null ? '' : '_of_workspace'
  const here = within('workspace_id', workspaceId)
  return {
    type: 'preset',
    table: 'presets',
    columns: ['slug', 'name', 'status'],
    id: 'slug',
    title: sql`name`,
    size: sql`length(slug)`,
    direction: 'asc',
    wanted: both(
      ownedBy === null ? sql`status <> 'archived'` : sql`status = 'active'`,
      sql`(${containsText(sql.ref('slug'), text)} or ${containsText(sql.ref('name'), text)})`,
    ),
    looks: [
      { index: `presets_by_slug${ofWorkspace}`, within: both(here, beginsWithText(slug, text)), order: sql`${slug}, id`, rows: ALIKE_MAX },
      { index: `presets_by_name${ofWorkspace}`, within: both(here, beginsWithText(name, text)), order: sql`${name}, id`, rows: ALIKE_MAX },
      { index: workspaceId === null ? 'presets_changed' : 'presets_listing', within: here, order: sql`updated_at desc, id desc`, rows },
    ],
  }
}

const keys = (engine: Engine, text: string, { workspaceId, ownedBy }: SearchScope, rows: number): Kind => {
  const name = sql<string>`lower(name)`
  const lastFour = engine === 'postgres' ? sql`right(label, 4)` : sql`substr(label, -4)`
  const ofWorkspace = workspaceId === null ? '' : '_of_workspace'
  const live = sql`deleted_at is null`
  const here = both(live, within('workspace_id', workspaceId))
  const newest = sql`created_at desc, hash desc`
  return {
    type: 'key',
    table: 'api_keys',
    columns: ['hash', 'name', 'label', 'workspace_id', 'creator_user_id'],
    id: 'hash',
    title: sql`name || ' ' || label`,
    size: sql`length(name)`,
    direction: 'asc',
    wanted: both(
      both(within('workspace_id', workspaceId), within('creator_user_id', ownedBy)),
      sql`(${containsText(sql.ref('name'), text)} or ${endsWithText(sql.ref('label'), text)} or hash = ${text})`,
    ),
    looks: [
      { index: null, within: both(sql`hash = ${text}`, live), order: sql`hash`, rows: ALIKE_MAX },
      { index: 'api_keys_last_four', within: both(sql`${lastFour} = ${text}`, live), order: sql`hash`, rows: ALIKE_MAX },
      ...(ownedBy === null
        ? [
            {
              index: `api_keys_named${ofWorkspace}`,
              within: both(here, beginsWithText(name, lowerText(text))),
              order: sql`${name}, hash`,
              rows: ALIKE_MAX,
            },
            { index: workspaceId === null ? 'api_keys_newest' : 'api_keys_of_workspace', within: here, order: newest, rows },
          ]
        : [{ index: 'api_keys_of_person', within: both(live, within('creator_user_id', ownedBy)), order: newest, rows }]),
    ],
  }
}

const members = (text: string, { workspaceId }: SearchScope, rows: number): Kind => {
  const person = sql<string>`lower(user_id)`
  const index = workspaceId === null ? 'workspace_members_people' : 'workspace_members_of_workspace'
  const here = within('workspace_id', workspaceId)
  const order = sql`${person}, id`
  return {
    type: 'member',
    table: 'workspace_members',
    columns: ['user_id'],
    id: 'user_id',
    title: sql`user_id`,
    size: sql`0`,
    direction: 'asc',
    wanted: containsText(sql.ref('user_id'), text),
    looks: [
      { index, within: both(here, beginsWithText(person, text)), order, rows: ALIKE_MAX },
      { index, within: here, order, rows },
    ],
  }
}

const both = (one: Sql, other: Sql): Sql => sql`${one} and ${other}`

/** Null means any value. */
const within = (column: string, value: string | null): Sql => (value === null ? sql`1 = 1` : sql`${sql.ref(column)} = ${value}`)
