import { expect, test } from 'bun:test'

import { changeAt, changedBy } from '../../../test/support/changed-by.ts'
import { describeEachEngine } from '../../../test/support/databases.ts'
import type { AuditedChange } from '../changes/audit-log.ts'
import { createCatalogueStore } from './catalogue-store.ts'
import { createChangeCounter } from '../changes/change-counter.ts'
import { T0, T1 } from '../testing/preset-input.ts'

const audit: AuditedChange = {
  workspaceId: 'w-0',
  action: 'imported',
  objectType: 'catalogue',
  objectId: 'litellm',
  before: null,
  after: null,
}
const list = (models: string, importedAt = T0) => ({ kind: 'litellm', asOf: '2026-11-20', importedAt, models })

describeEachEngine('imported lists of prices', (engine) => {
  test('a list replaces the one of its kind, and every process sees that something changed', async () => {
    const database = await engine.open()
    const [store, counter] = [createCatalogueStore(database), createChangeCounter(database)]
    const [empty, before] = [await store.revision(), await counter.read()]
    await store.put(list('{"a/b":{}}'), audit, changedBy())
    await store.put(list('{"c/d":{}}', T1), audit, changedBy())
    expect(await store.list()).toEqual([list('{"c/d":{}}', T1)])
    expect(await store.revision()).not.toBe(empty)
    expect(await counter.read()).toBe(before + 2)
  })

  test('a list that is removed is gone; one that is not there changes nothing', async () => {
    const database = await engine.open()
    const [store, counter] = [createCatalogueStore(database), createChangeCounter(database)]
    await store.put(list('{}'), audit, changedBy())
    const before = await counter.read()
    expect(await store.remove('hosted', audit, changeAt(T1))).toBe(false)
    expect(await counter.read()).toBe(before)
    expect(await store.remove('litellm', audit, changeAt(T1))).toBe(true)
    expect(await store.list()).toEqual([])
  })
})
