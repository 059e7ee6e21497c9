import { expect, test } from 'bun:test'

import { describeEachEngine } from '../../test/support/databases.ts'
import { T0 } from './testing/preset-input.ts'
import { createWorkspaceStore } from './workspace-store.ts'

describeEachEngine('workspace store', (engine) => {
  test('the defaults are made once, also when several nodes start at once', async () => {
    const location = await engine.locate()
    const nodes = await Promise.all(Array.from({ length: 4 }, () => engine.open(location)))
    const answers = await Promise.all(
      nodes.map((database, index) =>
        createWorkspaceStore(database).ensureDefaults({ workspaceId: `w-${index}`, userId: `u-${index}`, now: T0 }),
      ),
    )
    const [first] = answers
    expect(answers).toEqual(answers.map(() => first as (typeof answers)[number]))
    expect(first?.userId.slice(2)).toBe(first?.workspaceId.slice(2))
    const users = await nodes[0]?.kysely.selectFrom('users').select('id').execute()
    expect(users).toEqual([{ id: first?.userId ?? '' }])
  })
})
