/** The things that a person looks for by a piece of their name, or by their id: a few of each kind, found by index or in small tables. */
import { sql } from 'kysely'

import type { Database } from './database.ts'

export interface SearchScope {
  /** Null: every workspace. */
  readonly workspaceId: string | null
  /** Only what is this person's own, and active presets; null: all that is there. */
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

export const createSearchStore = ({ reports }: Pick<Database, 'reports'>): SearchStore => ({
  async find(text, { workspaceId, ownedBy }, limit) {
    const within = (column: string) => (workspaceId === null ? sql`1 = 1` : sql`${sql.ref(column)} = ${workspaceId}`)
    const own = (column: string) => (ownedBy === null ? sql`1 = 1` : sql`${sql.ref(column)} = ${ownedBy}`)
    const named = `%${likeText(text.toLowerCase())}%`
    const ask = async (type: Found['type'], query: ReturnType<typeof sql<{ id: string; title: string }>>): Promise<Found[]> =>
      (await query.execute(reports)).rows.map(({ id, title }) => ({ type, id, title }))
    const found: Found[] = []
    // An id is found by its beginning, which an index has.
    const id = text.replace(/^(?:resp_|msg_)/, 'gen-')
    if (id.startsWith('gen-')) {
      found.push(
        ...(await ask(
          'generation',
          sql`select id, model as title from generations where id >= ${id} and id < ${id + LAST} and ${within('workspace_id')} and ${own('user_id')} order by id limit ${limit}`,
        )),
      )
    }
    if (text.startsWith('req-')) {
      found.push(
        ...(await ask(
          'request',
          sql`select request_id as id, model as title from generations where request_id >= ${text} and request_id < ${text + LAST} and ${within('workspace_id')} and ${own('user_id')} order by request_id limit ${limit}`,
        )),
      )
    }
    const active = ownedBy === null ? sql`status <> 'archived'` : sql`status = 'active'`
    found.push(
      ...(await ask(
        'preset',
        sql`select slug as id, name as title from presets where (lower(slug) like ${named} escape '\\' or lower(name) like ${named} escape '\\') and ${active} and ${within('workspace_id')} order by length(slug), slug limit ${limit}`,
      )),
      ...(await ask(
        'key',
        sql`select hash as id, name || ' ' || label as title from api_keys where deleted_at is null
          and (lower(name) like ${named} escape '\\' or label like ${`%${likeText(text)}`} escape '\\' or hash = ${text})
          and ${within('workspace_id')} and ${own('creator_user_id')} order by length(name), hash limit ${limit}`,
      )),
    )
    if (ownedBy === null) {
      found.push(
        ...(await ask(
          'member',
          sql`select distinct user_id as id, user_id as title from workspace_members where lower(user_id) like ${named} escape '\\' and ${within('workspace_id')} order by user_id limit ${limit}`,
        )),
      )
    }
    return found
  },
})

/** Behind every id that begins alike. */
const LAST = '\uffff'

const likeText = (text: string): string => text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)
