import type { Selectable, Transaction } from 'kysely'

import type { Database } from '../database.ts'
import { deleteOldest } from '../statements/delete-oldest.ts'
import type { Schema } from '../tables/schema.ts'
import type { OauthCodesTable } from '../tables/sign-in-tables.ts'

export type OauthCodeRecord = Selectable<OauthCodesTable>

export interface OauthCodeStore {
  insert(code: OauthCodeRecord): Promise<void>
  find(digests: readonly string[]): Promise<OauthCodeRecord | null>
  /** Returns false if the code was used before. */
  claim(id: string, usedAt: string): Promise<boolean>
  /** Records the key that was made. Returns false if the code was used again meanwhile. */
  settle(id: string, keyHash: string): Promise<boolean>
  /** Notes that a used code was presented again; returns the key that was made for it, or null if it does not exist yet. */
  replayed(id: string): Promise<string | null>
  deleteExpired(before: string, limit: number): Promise<number>
}

/** Stored in place of a key's hash: the code came again before its key was made. */
const REPLAYED = 'replayed'

export const createOauthCodeStore = (database: Database): OauthCodeStore => ({
  insert: (code) =>
    database.transaction(async (transaction) => {
      await transaction.insertInto('oauth_codes').values(code).execute()
    }),

  async find(digests) {
    const row = await database.kysely.selectFrom('oauth_codes').selectAll().where('digest', 'in', digests).executeTakeFirst()
    return row ?? null
  },

  claim: (id, usedAt) =>
    database.transaction(async (transaction) => {
      const claimed = await transaction
        .updateTable('oauth_codes')
        .set({ used_at: usedAt })
        .where('id', '=', id)
        .where('used_at', 'is', null)
        .returning('id')
        .executeTakeFirst()
      return claimed !== undefined
    }),

  settle: (id, keyHash) =>
    database.transaction(async (transaction) => {
      const settled = await transaction
        .updateTable('oauth_codes')
        .set({ key_hash: keyHash })
        .where('id', '=', id)
        .where('key_hash', 'is', null)
        .returning('id')
        .executeTakeFirst()
      return settled !== undefined
    }),

  replayed: (id) =>
    database.transaction(async (transaction) => {
      await transaction.updateTable('oauth_codes').set({ key_hash: REPLAYED }).where('id', '=', id).where('key_hash', 'is', null).execute()
      const { key_hash: hash } = await transaction
        .selectFrom('oauth_codes')
        .select('key_hash')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return hash === REPLAYED ? null : hash
    }),

  deleteExpired: (before, limit) =>
    database.transaction((transaction) => deleteOldest(transaction, 'oauth_codes', 'expires_at', before, limit)),
})

/**
 * Deletes the unused codes that the key allowed: they allow what the key allowed until now. `keyHash` is hex digits.
 */
export const deleteCodesOfKey = async (transaction: Transaction<Schema>, keyHash: string): Promise<void> => {
  await transaction
    .deleteFrom('oauth_codes')
    .where('used_at', 'is', null)
    .where('key_settings', 'like', `%"allowedBy":"${keyHash}"%`)
    .execute()
}

/** Deletes the people's unused codes. */
export const deleteCodesOfPeople = async (
  transaction: Transaction<Schema>,
  workspaceId: string,
  userIds: readonly string[],
): Promise<void> => {
  await transaction
    .deleteFrom('oauth_codes')
    .where('used_at', 'is', null)
    .where('workspace_id', '=', workspaceId)
    .where('user_id', 'in', userIds)
    .execute()
}
