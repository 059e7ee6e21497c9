import { expect, test } from 'bun:test'

import { describeEachSettler } from '../../test/support/databases.ts'
import { testSeal } from '../../test/support/test-seal.ts'
import { createWaitingTraceStore, type WaitingTrace } from './waiting-trace-store.ts'

const [T0, T1, T2, T3] = [0, 1, 2, 3].map((minute) => `2026-11-20T10:0${minute}:00.000Z`) as [string, string, string, string]

const trace = (id: string, more: Partial<WaitingTrace> = {}): WaitingTrace => ({
  id,
  destinationId: 'd-1',
  createdAt: T0,
  text: `{"said":"a secret of ${id} \ud800"}`,
  path: `a/${id}.json`,
  ...more,
})

describeEachSettler('waiting traces', (engine) => {
  test('are sealed, and come back as they were, the oldest first, to one process at a time', async () => {
    const database = await engine.open()
    const store = createWaitingTraceStore(database, testSeal)
    const first = { holder: 'one', until: T1 }
    await store.write([trace('b', { createdAt: T1 }), trace('a'), trace('other', { destinationId: 'd-2' })], [], first)
    // Written again after a failure that was none.
    await store.write([trace('a')], [], first)
    const rows = await database.kysely.selectFrom('traces_waiting').selectAll().execute()
    expect(rows).toHaveLength(3)
    expect(JSON.stringify(rows)).not.toContain('secret')
    // While its process holds them, nobody else has them.
    expect(await store.take(['d-1', 'd-2'], T0, 10, { holder: 'two', until: T2 })).toEqual([])
    const taken = await Promise.all(['two', 'three'].map((holder) => store.take(['d-1'], T2, 10, { holder, until: T3 })))
    expect(taken.flat().toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual([trace('a'), trace('b', { createdAt: T1 })])
    expect(taken.filter((some) => some.length > 0)).toHaveLength(1)
  })

  test('are renewed, handed on, and removed', async () => {
    const store = createWaitingTraceStore(await engine.open(), testSeal)
    const lease = { holder: 'one', until: T1 }
    await store.write([trace('a'), trace('b')], [], lease)
    await store.renew({ holder: 'one', until: T3 })
    const other = { holder: 'two', until: T3 }
    expect(await store.take(['d-1'], T2, 10, other)).toEqual([])
    await store.release('nobody')
    expect(await store.take(['d-1'], T2, 10, other)).toEqual([])
    await store.release('one')
    expect(await store.take(['d-1'], T2, 1, other)).toHaveLength(1)
    await store.release(null)
    await store.write([], ['a', 'never there'], other)
    expect((await store.take(['d-1'], T2, 10, other)).map(({ id }) => id)).toEqual(['b'])
    await store.write([trace('new', { createdAt: T2 })], [], other)
    expect([await store.deleteOlderThan(T1, 10), await store.deleteOlderThan(T1, 10)]).toEqual([1, 0])
  })
})
