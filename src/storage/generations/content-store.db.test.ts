import { expect, test } from 'bun:test'

import { changeAt } from '../../../test/support/changed-by.ts'
import { describeEachSettler } from '../../../test/support/databases.ts'
import { testSeal } from '../../../test/support/test-seal.ts'
import { createContentStore, type StoredContent } from './content-store.ts'
import { T0, T1, T2 } from '../testing/preset-input.ts'

const content = (id: string, more: Partial<StoredContent> = {}): StoredContent => ({
  id,
  workspaceId: 'w-1',
  createdAt: T0,
  expiresAt: '2026-12-20T10:00:00.000Z',
  content: { request: { messages: ['a\u0000b'] } },
  ...more,
})

describeEachSettler('contents', (engine) => {
  test('come back as they were, in their own workspace, and are deleted there and with age', async () => {
    const store = createContentStore(await engine.open(), testSeal, () => () => undefined)
    await store.insert([content('gen-1'), content('gen-2', { expiresAt: T0 })])
    await store.insert([content('gen-1', { content: {} })])
    expect(await store.get('gen-1', 'w-1')).toEqual(content('gen-1'))
    expect(await store.get('gen-1', null)).toEqual(content('gen-1'))
    expect(await store.get('gen-1', 'w-2')).toBeNull()
    expect((await store.sizesOf(['gen-1', 'gen-nothing'])).get('gen-1')).toBeGreaterThan(10)
    expect([...(await store.sizesOf(['gen-1', 'gen-nothing'])).keys()]).toEqual(['gen-1'])
    expect((await store.sizesOf([])).size).toBe(0)
    expect(await store.delete('gen-1', 'w-2', changeAt(T1))).toBe(false)
    expect(await store.deleteExpired(T1, 10)).toBe(1)
    expect(await store.get('gen-2', null)).toBeNull()
    expect(await store.delete('gen-1', 'w-1', changeAt(T1))).toBe(true)
    expect(await store.get('gen-1', 'w-1')).toBeNull()
  })

  test('that expired first are deleted first, none of them before its time', async () => {
    const store = createContentStore(await engine.open(), testSeal, () => () => undefined)
    const T3 = '2026-11-20T10:00:03.000Z'
    const expiring = (id: string, expiresAt: string) => content(id, { expiresAt })
    await store.insert([expiring('later', T2), expiring('last', T3), expiring('first', T1)])
    expect([await store.deleteExpired(T1, 10), await store.deleteExpired(T3, 1)]).toEqual([0, 1])
    expect([...(await store.sizesOf(['first', 'later', 'last'])).keys()].toSorted()).toEqual(['last', 'later'])
    expect([await store.deleteExpired(T3, 10), await store.get('last', null)]).toEqual([1, expiring('last', T3)])
  })
})
