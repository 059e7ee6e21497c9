import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { describeEachEngine } from '../../../test/support/databases.ts'
import { createNodeBoard } from './node-board.ts'

describeEachEngine('the board of nodes', (engine) => {
  // A SQLite file is used by one process only.
  if (engine.name === 'sqlite') return

  test('each hears what the others last said, how long ago, and what time it is; one that leaves is gone at once', async () => {
    const database = await engine.open()
    const [one, other, third] = ['one', 'other', 'third'].map((id) => createNodeBoard(database, id))
    if (one === undefined || other === undefined || third === undefined) throw new Error('three boards')
    expect((await one.exchange('a')).others).toEqual([])
    await other.exchange('first')
    await other.exchange('b')
    await third.exchange('c')
    const { others: heard, nowMs } = await one.exchange('a')
    expect(Math.abs(nowMs - Date.now())).toBeLessThan(5000)
    expect(new Map(heard.map(({ id, board }) => [id, board]))).toEqual(
      new Map([
        ['other', 'b'],
        ['third', 'c'],
      ]),
    )
    for (const { ageMs } of heard) expect(ageMs).toBeWithin(0, 5000)
    const silentFor = (id: string, seconds: number) =>
      sql`update nodes set seen_at = clock_timestamp() - make_interval(secs => ${seconds}) where id = ${id}`.execute(database.kysely)
    await silentFor('other', 1)
    expect((await one.exchange('a')).others.find(({ id }) => id === 'other')?.ageMs).toBeWithin(1000, 5000)
    await silentFor('other', 6)
    await third.exchange('d')
    expect((await one.exchange('a')).others.map(({ id }) => id)).toEqual(['third'])
    await other.exchange('back')
    await third.leave()
    expect((await one.exchange('a')).others.map(({ id }) => id)).toEqual(['other'])
  })
})
