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
