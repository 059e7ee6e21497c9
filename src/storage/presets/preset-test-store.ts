/** Inputs that are stored for trying a preset. They may contain what people wrote, so they are sealed. */

import { PRESET_TESTS_MAX, type PresetTest } from '../../contract/preset-test.ts'
import { type Change, type ChangedBy, recordChange } from '../changes/audit-log.ts'
import { readStored } from '../rows/damaged-row.ts'
import type { Once } from '../changes/idempotency.ts'
import { auditOf, lockPreset, presetIdOf, type PresetRef } from './preset-ref.ts'
import type { SealedDatabase } from './preset-rows.ts'

type Added = 'added' | 'no-such-preset' | 'too-many'

export interface PresetTestStore {
  /** Oldest first; null if there is no such preset. */
  list(preset: PresetRef): Promise<readonly PresetTest[] | null>
  add(preset: PresetRef, test: PresetTest, by: ChangedBy, once?: Once<Added>): Promise<Added>
  /** Returns false if there is none of this id. */
  remove(preset: PresetRef, id: string, change: Change): Promise<boolean>
}

export const createPresetTestStore = ({ database, seal }: SealedDatabase): PresetTestStore => ({
  async list(ref) {
    const presetId = await presetIdOf(database.kysely, ref)
    if (presetId === null) return null
    const rows = await database.kysely
      .selectFrom('preset_tests')
      .selectAll()
      .where('preset_id', '=', presetId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(({ id, name, sealed_input, creator_id, created_at }) => ({
      id,
      name,
      ...readStored('preset_tests', id, () => JSON.parse(seal.open(sealed_input, contextOf(id))) as Input),
      creator_id,
      created_at,
    }))
  },

  add: (ref, { id, name, creator_id, created_at, messages, tools, expected }, by, once) =>
    recordChange<Added>(database, { by, now: created_at, once }, async (transaction) => {
      const preset = await lockPreset(transaction, ref)
      if (preset === null) return { result: 'no-such-preset', audit: null }
      const { count } = await transaction
        .selectFrom('preset_tests')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('preset_id', '=', preset.id)
        .executeTakeFirstOrThrow()
      if (count >= PRESET_TESTS_MAX) return { result: 'too-many', audit: null }
      const input: Input = { messages, tools, expected }
      await transaction
        .insertInto('preset_tests')
        .values({ id, preset_id: preset.id, name, sealed_input: seal.seal(JSON.stringify(input), contextOf(id)), creator_id, created_at })
        .execute()
      return { result: 'added', audit: { ...auditOf(ref, 'test_added'), before: null, after: { test_id: id, name } } }
    }),

  remove: (ref, id, change) =>
    recordChange<boolean>(database, change, async (transaction) => {
      const preset = await lockPreset(transaction, ref)
      if (preset === null) return { result: false, audit: null }
      const removed = await transaction
        .deleteFrom('preset_tests')
        .where('preset_id', '=', preset.id)
        .where('id', '=', id)
        .returning('name')
        .executeTakeFirst()
      if (removed === undefined) return { result: false, audit: null }
      return { result: true, audit: { ...auditOf(ref, 'test_removed'), before: { test_id: id, name: removed.name }, after: null } }
    }),
})

type Input = Pick<PresetTest, 'messages' | 'tools' | 'expected'>

const contextOf = (id: string): string => `preset-test ${id}`
