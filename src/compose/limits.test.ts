/** The parts that admit requests, as they are composed: each limit is that of the newest configuration file. */
import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { configFileSchema } from '../config-file.ts'
import type { LimitStore } from '../storage/limits/limit-store.ts'
import { logTo } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { composeLimits } from './limits.ts'
import { createReloadable } from './reloadable.ts'

const fileOf = (limits: object) => configFileSchema.parse({ limits })

/** One of two nodes, over a store that answers everything but `enter`. */
const start = async (limits: object) => {
  const clock = createFakeClock()
  const reloadable = createReloadable(fileOf(limits), Number.POSITIVE_INFINITY)
  const reports: string[] = []
  const nothing = async (): Promise<void> => undefined
  const limitStore: LimitStore = {
    name: 'store',
    asksAlone: true,
    connect: nothing,
    ping: nothing,
    enter: () => new Promise(() => undefined),
    correct: nothing,
    close: nothing,
    async exchangePlaces(report) {
      reports.push(report)
      return []
    },
  }
  const log = logTo(() => undefined, 'silent', clock)
  const parts = composeLimits({ clock, cpuMs: () => 0, log, metrics: createMetrics(), reloadable, limitStore, nodesSeen: () => 2 })
  await parts.meter.connect()
  return { ...parts, clock, reports, reload: (next: object) => reloadable.reload(fileOf(next)) }
}

test('a new file changes how many places this node reports to the others', async () => {
  const { nodePlaces, clock, reports, reload } = await start({ in_flight: 40 })
  const stop = nodePlaces.start()
  const reported = async (): Promise<unknown> => {
    // A node with free room reports once a second.
    for (let round = 0; round < 10; round += 1) {
      clock.advance(100)
      await turn()
    }
    return (JSON.parse(reports.at(-1) ?? '{}') as { readonly most?: number }).most
  }
  expect(await reported()).toBe(40)
  reload({ in_flight: 60 })
  expect(await reported()).toBe(60)
  stop()
})

test('a new file changes how long the store of limits is waited for', async () => {
  const { meter, clock, reload } = await start({ store_timeout_ms: 200 })
  reload({ store_timeout_ms: 50 })
  void meter.enter({ hash: 'k', concurrency: 4, tokensPerMinute: 0, requestsPerMinute: 0 })
  clock.advance(49)
  await turn()
  expect(meter.decidedAlone).toBe(0)
  clock.advance(1)
  // An answer that has arrived by then still counts for a moment.
  clock.advance(1)
  await turn()
  expect(meter.decidedAlone).toBe(1)
})
