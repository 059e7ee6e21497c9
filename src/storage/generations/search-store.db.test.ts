import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { fillManagement, MANY } from '../../../test/support/management-records.ts'
import { createSearchStore, type Found, type SearchScope } from './search-store.ts'

const EVERYWHERE: SearchScope = { workspaceId: null, ownedBy: null }
const FROM_MS = Date.parse('2026-11-20T00:00:00.000Z')

describeEachEngine('search', (engine) => {
  /** Names look like `klmn 9` and `pqrs-9`; the numbers rise with time. */
  const prepare = async (scannedMax: number) => {
    const database = await engine.open()
    await fillManagement(database, null, { records: 200, fromMs: FROM_MS })
    await sql`update api_keys set name = 'The First ÄRGER' where hash = ${'0'.repeat(64)}`.execute(database.kysely)
    await sql`update api_keys set label = 'pb_inf_…aB1z' where hash = ${hashOf(2)}`.execute(database.kysely)
    await sql`update presets set name = 'First of All' where id = 'preset-0'`.execute(database.kysely)
    const search = createSearchStore(database, scannedMax)
    return async (text: string, type: Found['type'], scope: Partial<SearchScope> = {}): Promise<readonly string[]> =>
      (await search.find(text, { ...EVERYWHERE, ...scope }, 8)).filter((found) => found.type === type).map(({ id }) => id)
  }
  const hashOf = (index: number) => index.toString(16).padStart(64, '0')

  test('beginnings of names, whole hashes and last fours are found beyond the rows that a search looks through', async () => {
    const find = await prepare(10)
    expect(await find('the first', 'key')).toEqual([hashOf(0)])
    expect(await find('THE FIRST Ä', 'key', { workspaceId: MANY })).toEqual([hashOf(0)])
    expect(await find(hashOf(1), 'key')).toEqual([hashOf(1)])
    expect(await find('0001', 'key')).toEqual([hashOf(1)])
    expect(await find('0001', 'key', { ownedBy: 'nobody' })).toEqual([])
    expect(await find('first of', 'preset')).toHaveLength(1)
    expect(await find('Person-100', 'member')).toEqual(['person-100'])
  })

  test('the last characters of a key count in their own case, as on every engine', async () => {
    const find = await prepare(1000)
    expect([await find('aB1z', 'key'), await find('B1z', 'key')]).toEqual([[hashOf(2)], [hashOf(2)]])
    expect(await find('ab1Z', 'key')).toEqual([])
  })

  test('another piece of a name is found among the newest, and in all there is where that is not more', async () => {
    const [few, all] = [await prepare(10), await prepare(1000)]
    expect(await few('199', 'key')).toEqual([hashOf(199)])
    expect(await few('first ä', 'key')).toEqual([])
    expect(await all('first Ä', 'key')).toEqual([hashOf(0)])
    expect((await few(' 10', 'preset')).length).toBe(0)
    expect(await all(' 10', 'preset')).toHaveLength(8)
    expect(await all('on-42', 'member')).toEqual(['person-42'])
  })

  test('a part of a name is found in upper and lower case, in letters beyond ASCII too', async () => {
    const find = await prepare(1000)
    for (const text of ['ÄRGER', 'ärger', 'ärGER', 'first ä']) expect(await find(text, 'key')).toEqual([hashOf(0)])
    expect(await find('ÖRGER', 'key')).toEqual([])
    // No query is too large for an engine, however many letters a text has.
    const letters = String.fromCodePoint(...Array.from({ length: 200 }, (_, index) => 0x400 + index))
    expect(await find(letters, 'key')).toEqual([])
  })

  test('nothing is found of another workspace, and of keys and requests nothing of another person', async () => {
    const find = await prepare(1000)
    expect(await find(' 3', 'key', { workspaceId: 'other' })).not.toBeEmpty()
    expect(await find(hashOf(4), 'key', { workspaceId: 'other' })).toEqual([])
    expect(await find(hashOf(3), 'key', { workspaceId: MANY })).toEqual([])
    expect(await find('person-4', 'member', { workspaceId: 'other' })).toEqual(['person-43'])
    expect(await find('person-4', 'member', { ownedBy: 'ada' })).toEqual([])
    expect(await find(' 1', 'key', { ownedBy: 'ada' })).toEqual([])
  })
})
