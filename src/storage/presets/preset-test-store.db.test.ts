import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import { createPresetTestStore } from './preset-test-store.ts'
import { preparePresets, T0, T1 } from '../testing/preset-input.ts'

const TEST = {
  name: 'greets',
  messages: [{ role: 'user', content: 'half of a pair: \ud800, and \u0000' }],
  tools: null,
  expected: 'Hi',
  creator_id: 'user-1',
}

describeEachEngine('saved tests', (engine) => {
  test('come back as they were saved, in their order, and stand sealed in the table', async () => {
    const database = await engine.open()
    const { create, workspaceId } = await preparePresets(database)
    const tests = createPresetTestStore({ database, seal: testSeal })
    const ref = { workspaceId, slug: 'bot' }
    expect(await tests.list(ref)).toBeNull()
    await create('bot')
    const [one, two] = [T1, T0].map((created_at, at) => ({ ...TEST, id: `test-${at}`, created_at }))
    expect(await tests.add(ref, one!, changedBy())).toBe('added')
    expect(await tests.add(ref, two!, changedBy())).toBe('added')
    expect(await tests.list(ref)).toEqual([two!, one!])
    const rows = await database.kysely.selectFrom('preset_tests').select('sealed_input').execute()
    expect(rows.every(({ sealed_input }) => !sealed_input.includes('half of'))).toBe(true)
    expect(await tests.remove({ workspaceId, slug: 'other' }, 'test-0', changeAt(T1))).toBe(false)
    expect(await tests.remove(ref, 'test-0', changeAt(T1))).toBe(true)
    expect(await tests.list(ref)).toEqual([two!])
  })
})
