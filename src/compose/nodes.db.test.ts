import { expect, test } from 'bun:test'

import { describeEachEngine } from '../../test/support/databases.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { logTo } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { composeNodes } from './nodes.ts'

const HOUR_MS = 3_600_000

describeEachEngine('the time that nodes share', (engine) => {
  test('is that of their database, and a clock that is an hour off is reported once', async () => {
    const database = await engine.open()
    const clock = createFakeClock(Date.now() - HOUR_MS)
    const lines: string[] = []
    const log = logTo((line) => lines.push(line), 'warn', clock)
    const knowledge = { news: () => '', hear: () => undefined }
    const nodes = composeNodes({ database, node: 'late', clock, log, metrics: createMetrics(), knowledge })
    await nodes.join()
    await nodes.join()
    const isAlone = engine.name === 'sqlite'
    expect(Math.abs(nodes.sharedClock.now() - (isAlone ? clock.now() : Date.now()))).toBeLessThan(60_000)
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(
      isAlone ? [] : [{ seconds: expect.closeTo(3600, -2), msg: 'the clocks of this node and of the database differ by so many seconds' }],
    )
  })

  test('does not waver because a node is busy: what the time of an answer explains is no difference', async () => {
    const database = await engine.open()
    const clock = createFakeClock(Date.now())
    const log = logTo(() => undefined, 'warn', clock)
    const knowledge = { news: () => (clock.advance(60_000), ''), hear: () => undefined }
    const nodes = composeNodes({ database, node: 'busy', clock, log, metrics: createMetrics(), knowledge })
    await nodes.join()
    expect(nodes.sharedClock.now()).toBe(clock.now())
  })
})

describeEachEngine('nodes', (engine) => {
  test('count themselves and the others, say once that the reports of others cannot be read, and sign off behind their last report', async () => {
    const database = await engine.open()
    const clock = createFakeClock(Date.now())
    const lines: string[] = []
    const log = logTo((line) => lines.push((JSON.parse(line) as { msg: string }).msg), 'warn', clock)
    let isAway = false
    const knowledge = {
      news() {
        if (isAway) throw new Error('away')
        return ''
      },
      hear: () => undefined,
    }
    const open = (node: string) => composeNodes({ database, node, clock, log, metrics: createMetrics(), knowledge })
    const [one, other] = [open('one'), open('other')]
    for (const node of [one, other, one]) await node.join()
    const isAlone = engine.name === 'sqlite'
    expect([one.seen, one.others.map(({ id }) => id)]).toEqual(isAlone ? [1, []] : [2, ['other']])
    isAway = true
    await one.join()
    await one.join()
    isAway = false
    await one.join()
    expect(lines).toEqual(isAlone ? [] : ['the reports of the other nodes cannot be read'])
    const stop = other.start()
    clock.advance(1000)
    await stop()
    await one.join()
    expect([one.seen, clock.waiting]).toEqual([1, 0])
  })
})
