/** Finds a preset by its workspace and its slug. */
import type { Kysely, Selectable, Transaction } from 'kysely'

import type { PresetsTable } from '../tables/preset-tables.ts'
import type { Schema } from '../tables/schema.ts'

export interface PresetRef {
  readonly workspaceId: string
  readonly slug: string
}

/** Null if there is no such preset. */
export const presetIdOf = async (kysely: Kysely<Schema>, { workspaceId, slug }: PresetRef): Promise<string | null> => {
  const row = await kysely
    .selectFrom('presets')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .executeTakeFirst()
  return row?.id ?? null
}

/**
 * Null if there is no such preset. An update that changes nothing locks the row on both engines; SQLite has no `for update`. Of two that
 * change a preset at once, the second waits here and sees what the first did.
 */
export const lockPreset = async (
  transaction: Transaction<Schema>,
  { workspaceId, slug }: PresetRef,
): Promise<Selectable<PresetsTable> | null> => {
  const row = await transaction
    .updateTable('presets')
    .set((eb) => ({ last_version: eb.ref('last_version') }))
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** The members of an audit entry that name the preset. */
export const auditOf = ({ workspaceId, slug }: PresetRef, action: string) => ({
  workspaceId,
  action,
  objectType: 'preset' as const,
  objectId: slug,
})
