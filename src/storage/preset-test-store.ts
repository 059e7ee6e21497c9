/** Inputs that are stored for trying a preset. They may contain what people wrote, so they are sealed. */
import type { Transaction } from 'kysely'

import { PRESET_TESTS_MAX, type PresetTest } from '../contract/preset-test.ts'
import { type ChangedBy, recordChange } from './audit-log.ts'
import type { Once } from './idempotency.ts'
import type { SealedDatabase } from './preset-rows.ts'
import type { Schema } from './schema.ts'

export interface PresetRef {
  readonly workspaceId: string
  readonly slug: string
}

type Added = 'added' | 'no-such-preset' | 'too-many'

export interface PresetTestStore {
  /** Oldest first; null if there is no such preset. */
  list(preset: PresetRef): Promise<readonly PresetTest[] | null>
  add(preset: PresetRef, test: PresetTest, by: ChangedBy, once?: Once<Added>): Promise<Added>
  /** Returns false if there is none of this id. */
  remove(preset: PresetRef, id: string, now: string, by: ChangedBy): Promise<boolean>
}

export const createPresetTestStore = ({ database, seal }: SealedDatabase): PresetTestStore => ({
  async list({ workspaceId, slug }) {
    const preset = await database.kysely
      .selectFrom('presets')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('slug', '=', slug)
      .executeTakeFirst()
    if (preset === undefined) return null
    const rows = await database.kysely
      .selectFrom('preset_tests')
      .selectAll()
      .where('preset_id', '=', preset.id)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(({ id, name, sealed_input, creator_id, created_at }) => ({
      id,
      name,
      ...(JSON.parse(seal.open(sealed_input, contextOf(id))) as Input),
      creator_id,
      created_at,
    }))
  },

  add: (ref, { id, name, creator_id, created_at, messages, tools, expected }, by, once) =>
    recordChange<Added>(
      database,
      by,
      created_at,
      async (transaction) => {
        const presetId = await lockPreset(transaction, ref)
        if (presetId === null) return { result: 'no-such-preset', audit: null }
        const { count } = await transaction
          .selectFrom('preset_tests')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('preset_id', '=', presetId)
          .executeTakeFirstOrThrow()
        if (count >= PRESET_TESTS_MAX) return { result: 'too-many', audit: null }
        const input: Input = { messages, tools, expected }
        await transaction
          .insertInto('preset_tests')
          .values({ id, preset_id: presetId, name, sealed_input: seal.seal(JSON.stringify(input), contextOf(id)), creator_id, created_at })
          .execute()
        return { result: 'added', audit: { ...auditOf(ref, 'test_added'), before: null, after: { test_id: id, name } } }
      },
      once,
    ),

  remove: (ref, id, now, by) =>
    recordChange<boolean>(database, by, now, async (transaction) => {
      const presetId = await lockPreset(transaction, ref)
      if (presetId === null) return { result: false, audit: null }
      const removed = await transaction
        .deleteFrom('preset_tests')
        .where('preset_id', '=', presetId)
        .where('id', '=', id)
        .returning('name')
        .executeTakeFirst()
      if (removed === undefined) return { result: false, audit: null }
      return { result: true, audit: { ...auditOf(ref, 'test_removed'), before: { test_id: id, name: removed.name }, after: null } }
    }),
})

type Input = Pick<PresetTest, 'messages' | 'tools' | 'expected'>

const contextOf = (id: string): string => `preset-test ${id}`

const auditOf = ({ workspaceId, slug }: PresetRef, action: string) => ({
  workspaceId,
  action,
  objectType: 'preset' as const,
  objectId: slug,
})

/** An update that changes nothing takes the lock: of two that add at once, the second waits and counts the first. */
const lockPreset = async (transaction: Transaction<Schema>, { workspaceId, slug }: PresetRef): Promise<string | null> => {
  const locked = await transaction
    .updateTable('presets')
    .set((eb) => ({ last_version: eb.ref('last_version') }))
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .returning('id')
    .executeTakeFirst()
  return locked?.id ?? null
}
