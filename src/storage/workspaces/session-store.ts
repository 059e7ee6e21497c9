import type { Selectable, Transaction } from 'kysely'

import { type AuditedChange, type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import { requireAnotherAdmin } from './last-admin.ts'
import type { Database } from '../database.ts'
import { deleteOldest } from '../statements/delete-oldest.ts'
import type { Once } from '../changes/idempotency.ts'
import { deleteCodesOfPeople } from './oauth-code-store.ts'
import type { Schema } from '../tables/schema.ts'
import type { LoginLinksTable, SessionsTable } from '../tables/sign-in-tables.ts'
import { lockWorkspace } from './lock-workspace.ts'

export type SessionRecord = Selectable<SessionsTable>
export type LoginLinkRecord = Selectable<LoginLinksTable>

/** The sessions in question: of one workspace, or of all if null; of one person, or of all if null. */
export interface SessionScope {
  readonly workspaceId: string | null
  readonly userId: string | null
}

export interface SessionStore {
  insert(session: SessionRecord, by: ChangedBy): Promise<void>
  /**
   * Deletes the link with one of these digests and opens the session that `open` makes from it, all or
   * nothing; null if there is no such link any more.
   */
  redeem(digests: readonly string[], change: Change, open: (link: LoginLinkRecord) => SessionRecord): Promise<SessionRecord | null>
  /** The session with one of these digests, if it is still valid. The next three also look only at valid sessions. */
  find(digests: readonly string[], now: string): Promise<SessionRecord | null>
  get(id: string, now: string): Promise<SessionRecord | null>
  /** Returns the given ids that belong to valid sessions. */
  live(ids: readonly string[], now: string): Promise<ReadonlySet<string>>
  /** The most recently opened first. */
  list(scope: SessionScope, now: string, limit: number): Promise<readonly SessionRecord[]>
  prolong(id: string, lastUsedAt: string, expiresAt: string): Promise<void>
  /** The name of a person in a workspace; null if none is known there. */
  nameOf(person: Pick<SessionRecord, 'workspace_id' | 'user_id'>): Promise<string | null>
  /** Returns false if the scope has no such session. */
  end(scope: SessionScope, id: string, action: 'signed_out' | 'revoked', change: Change): Promise<boolean>
  /**
   * Stores the link. If `role` is null, the link gets the person's role, or `member` for somebody new, who becomes a member with this
   * call. A role that differs replaces the person's role, which ends their current sessions.
   */
  addLink(
    link: Omit<LoginLinkRecord, 'role'> & { readonly role: LoginLinkRecord['role'] | null },
    memberId: string,
    by: ChangedBy,
    once?: Once<LoginLinkRecord>,
  ): Promise<LoginLinkRecord>
  /** Deletes expired sessions and links. */
  deleteExpired(before: string, limit: number): Promise<number>
}

export const createSessionStore = (database: Database): SessionStore => ({
  insert: (session, by) =>
    recordChange<void>(database, { by, now: session.created_at }, async (transaction) => {
      await transaction.insertInto('sessions').values(session).execute()
      return { result: undefined, audit: audited('signed_in', session) }
    }),

  redeem: (digests, change, open) =>
    recordChange<SessionRecord | null>(database, change, async (transaction) => {
      const link = await transaction
        .deleteFrom('login_links')
        .where('digest', 'in', digests)
        .where('expires_at', '>', change.now)
        .returningAll()
        .executeTakeFirst()
      if (link === undefined) return { result: null, audit: null }
      const session = open(link)
      await transaction.insertInto('sessions').values(session).execute()
      return { result: session, audit: audited('signed_in', session), by: { ...change.by, userId: session.user_id, sessionId: session.id } }
    }),

  async find(digests, now) {
    const row = await counting(database, now).where('sessions.digest', 'in', digests).executeTakeFirst()
    return row ?? null
  },

  async get(id, now) {
    return (await counting(database, now).where('sessions.id', '=', id).executeTakeFirst()) ?? null
  },

  async live(ids, now) {
    const rows = await counting(database, now).where('sessions.id', 'in', ids).execute()
    return new Set(rows.map(({ id }) => id))
  },

  list: ({ workspaceId, userId }, now, limit) =>
    counting(database, now)
      .$if(workspaceId !== null, (query) => query.where('sessions.workspace_id', '=', workspaceId ?? ''))
      .$if(userId !== null, (query) => query.where('sessions.user_id', '=', userId ?? ''))
      .orderBy('sessions.created_at', 'desc')
      .orderBy('sessions.id', 'desc')
      .limit(limit)
      .execute(),

  prolong: (id, lastUsedAt, expiresAt) =>
    database.transaction(async (transaction) => {
      await transaction.updateTable('sessions').set({ last_used_at: lastUsedAt, expires_at: expiresAt }).where('id', '=', id).execute()
    }),

  async nameOf({ workspace_id, user_id }) {
    const row = await database.kysely
      .selectFrom('workspace_members')
      .select('name')
      .where('workspace_id', '=', workspace_id)
      .where('user_id', '=', user_id)
      .executeTakeFirst()
    return row?.name ?? null
  },

  end: ({ workspaceId, userId }, id, action, change) =>
    recordChange<boolean>(database, change, async (transaction) => {
      const ended = await transaction
        .deleteFrom('sessions')
        .where('id', '=', id)
        .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
        .$if(userId !== null, (query) => query.where('user_id', '=', userId ?? ''))
        .returningAll()
        .executeTakeFirst()
      return { result: ended !== undefined, audit: ended === undefined ? null : audited(action, ended) }
    }),

  addLink: ({ role, ...rest }, memberId, by, once) => {
    const insert = async (transaction: Transaction<Schema>): Promise<{ result: LoginLinkRecord; audit: AuditedChange }> => {
      const { workspace_id, user_id, created_at } = rest
      await lockWorkspace(transaction, workspace_id)
      if (role === 'member') await requireAnotherAdmin(transaction, workspace_id, [user_id], by)
      const before = await roleOf(transaction, workspace_id, user_id)
      const after = role ?? before ?? 'member'
      if (after !== before) await giveRole(transaction, { id: memberId, workspace_id, user_id, role: after, created_at })
      const link: LoginLinkRecord = { ...rest, role: after }
      await transaction.insertInto('login_links').values(link).execute()
      return {
        result: link,
        audit: {
          workspaceId: workspace_id,
          action: 'login_link_created',
          objectType: 'member',
          objectId: user_id,
          before: { role: before },
          after: { role: after, expires_at: link.expires_at },
        },
      }
    }
    return recordChange(database, { by, now: rest.created_at, once }, insert)
  },

  deleteExpired: (before, limit) =>
    database.transaction(async (transaction) => {
      const sessions = await deleteOldest(transaction, 'sessions', 'expires_at', before, limit)
      const links = await deleteOldest(transaction, 'login_links', 'expires_at', before, limit)
      return Math.max(sessions, links)
    }),
})

/**
 * Sessions that have not expired and whose key is still valid or, if no key opened them, whose person still has that role in a workspace
 * that still exists. This is checked each time, so that nothing has to end sessions when one of these goes.
 */
const counting = (database: Database, now: string) =>
  database.kysely
    .selectFrom('sessions')
    .innerJoin('workspaces', 'workspaces.id', 'sessions.workspace_id')
    .leftJoin('api_keys', 'api_keys.hash', 'sessions.key_hash')
    .leftJoin('workspace_members', (join) =>
      join
        .onRef('workspace_members.workspace_id', '=', 'sessions.workspace_id')
        .onRef('workspace_members.user_id', '=', 'sessions.user_id'),
    )
    .selectAll('sessions')
    .where('workspaces.deleted_at', 'is', null)
    .where('sessions.expires_at', '>', now)
    .where((eb) =>
      eb.or([
        eb.and([
          eb('sessions.key_hash', 'is not', null),
          eb('api_keys.deleted_at', 'is', null),
          eb('api_keys.disabled', '=', 0),
          eb.or([eb('api_keys.expires_at', 'is', null), eb('api_keys.expires_at', '>', now)]),
        ]),
        eb.and([eb('sessions.key_hash', 'is', null), eb('workspace_members.role', '=', eb.ref('sessions.role'))]),
      ]),
    )

const roleOf = async (transaction: Transaction<Schema>, workspaceId: string, userId: string): Promise<LoginLinkRecord['role'] | null> => {
  const member = await transaction
    .selectFrom('workspace_members')
    .select('role')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return member?.role ?? null
}

/** Makes the person a member with this role, or changes the role; all that the person opened or may open with the old role ends. */
const giveRole = async (transaction: Transaction<Schema>, member: NewMember): Promise<void> => {
  const { workspace_id, user_id, role, created_at } = member
  await transaction
    .insertInto('users')
    .values({ id: user_id, name: user_id, email: null, created_at })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  await transaction
    .insertInto('workspace_members')
    .values({ ...member, name: null, email: null })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ role }))
    .execute()
  await endSignInsOf(transaction, workspace_id, [user_id])
}

/**
 * Must be called in the transaction that changes the role of these people or removes them: otherwise their sessions, their sign-in links
 * and the codes that they allowed would count again once they have the role again.
 */
export const endSignInsOf = async (transaction: Transaction<Schema>, workspaceId: string, userIds: readonly string[]): Promise<void> => {
  await deleteCodesOfPeople(transaction, workspaceId, userIds)
  for (const table of ['sessions', 'login_links'] as const) {
    await transaction.deleteFrom(table).where('workspace_id', '=', workspaceId).where('user_id', 'in', userIds).execute()
  }
}

/** Ends the sessions that the key opened, except `but`, the one that replaces the key's secret. */
export const endSessionsOfKey = async (transaction: Transaction<Schema>, keyHash: string, but: string | null): Promise<void> => {
  await transaction
    .deleteFrom('sessions')
    .where('key_hash', '=', keyHash)
    .$if(but !== null, (query) => query.where('id', '!=', but ?? ''))
    .execute()
}

interface NewMember {
  /** Used if the person is not a member yet. */
  readonly id: string
  readonly workspace_id: string
  readonly user_id: string
  readonly role: LoginLinkRecord['role']
  readonly created_at: string
}

const audited = (action: 'signed_in' | 'signed_out' | 'revoked', session: SessionRecord): AuditedChange => {
  const view = { user_id: session.user_id, role: session.role, key_hash: session.key_hash, user_agent: session.user_agent }
  return {
    workspaceId: session.workspace_id,
    action,
    objectType: 'session',
    objectId: session.id,
    before: action === 'signed_in' ? null : view,
    after: action === 'signed_in' ? view : null,
  }
}
