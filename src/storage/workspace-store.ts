import type { Database } from './database.ts'

export interface WorkspaceStore {
  /** The default workspace and its owner, made now if this database has none. The ids given are used for that only. */
  ensureDefaults(input: { workspaceId: string; userId: string; now: string }): Promise<{ workspaceId: string; userId: string }>
}

export const createWorkspaceStore = (database: Database): WorkspaceStore => ({
  ensureDefaults: ({ workspaceId, userId, now }) =>
    database.transaction(async (transaction) => {
      // Two nodes may start at once: the unique slug makes the second one wait here for the first.
      const made = await transaction
        .insertInto('workspaces')
        .values({
          id: workspaceId,
          slug: 'default',
          name: 'Default',
          description: null,
          created_at: now,
          created_by: userId,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.column('slug').doNothing())
        .returning('id')
        .executeTakeFirst()
      if (made !== undefined) {
        await transaction.insertInto('users').values({ id: userId, name: 'Owner', email: null, created_at: now }).execute()
        return { workspaceId, userId }
      }
      const existing = await transaction
        .selectFrom('workspaces')
        .select(['id', 'created_by'])
        .where('slug', '=', 'default')
        .executeTakeFirstOrThrow()
      return { workspaceId: existing.id, userId: existing.created_by }
    }),
})
