import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { changedBy } from '../../test/support/changed-by.ts'
import { describeEachEngine } from '../../test/support/databases.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createFakeIds } from '../../test/support/fake-ids.ts'
import type { Database } from '../storage/database.ts'
import { insertGenerations } from '../storage/generations/generation-store.ts'
import { createRolloutStore } from '../storage/presets/rollout-store.ts'
import { generationRecord } from '../storage/testing/generation-record.ts'
import { preparePresets, T1 } from '../storage/testing/preset-input.ts'
import { createRollouts } from './rollouts.ts'

const splits = [
  { version: 1, weight: 50 },
  { version: 2, weight: 50 },
]

/** Rollouts of presets whose version 2 failed in each of 60 requests, and version 1 in none. */
const prepareFailing = async (database: Database, slugs: readonly string[], engine: 'sqlite' | 'postgres') => {
  const { create, workspaceId } = await preparePresets(database)
  const rollouts = createRollouts({
    store: createRolloutStore(database),
    forget: () => undefined,
    flush: async () => undefined,
    clock: createFakeClock(),
    ids: createFakeIds(),
  })
  for (const slug of slugs) {
    await create(slug)
    await create(slug, { designate: false })
    const { id } = await rollouts.put({ workspaceId, slug }, { splits, sticky: 'none' }, changedBy())
    const rows = Array.from({ length: 120 }, (_, at) => ({
      userId: 'user-1',
      record: generationRecord({
        id: `gen-${slug}-${at}`,
        createdAt: T1,
        workspaceId,
        presetVersion: at < 60 ? 1 : 2,
        record: { rollout_id: id, ...(at < 60 ? {} : { error_type: 'provider_unavailable' }) },
      }),
    }))
    await database.transaction((transaction) => insertGenerations(transaction, engine, rows))
  }
  return { rollouts, stateOf: async (slug: string) => (await rollouts.get({ workspaceId, slug })).state }
}

describeEachEngine('rollouts whose figures require a halt', (engine) => {
  test('halt at the next check if the first could not write it', async () => {
    const database = await engine.open()
    const { rollouts, stateOf } = await prepareFailing(database, ['bot'], engine.name)
    const rename = (from: string, to: string) =>
      database.transaction((transaction) => sql`alter table ${sql.id(from)} rename to ${sql.id(to)}`.execute(transaction))
    await rename('audit_log', 'elsewhere')
    await rollouts.check().then(
      () => expect.unreachable(),
      () => undefined,
    )
    expect(await stateOf('bot')).toBe('running')
    await rename('elsewhere', 'audit_log')
    await rollouts.check()
    expect(await stateOf('bot')).toBe('halted')
  })

  test.skipIf(engine.name === 'sqlite')('halt although another process holds the preset of one of them', async () => {
    const location = await engine.locate()
    const { rollouts, stateOf } = await prepareFailing(await engine.open(location), ['held', 'free'], engine.name)
    const other = await engine.open(location)
    const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = other.transaction(async (transaction) => {
      await transaction.updateTable('presets').set({ description: 'held' }).where('slug', '=', 'held').execute()
      locked.resolve()
      await release.promise
    })
    await locked.promise
    await rollouts.check().then(
      () => expect.unreachable(),
      ({ name }: Error) => expect(name).toBe('StorageConflict'),
    )
    expect([await stateOf('held'), await stateOf('free')]).toEqual(['running', 'halted'])
    release.resolve()
    await holding
    await rollouts.check()
    expect(await stateOf('held')).toBe('halted')
  })
})
