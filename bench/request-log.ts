/**
 * Measures how long the lists, the sums and the search of the request log take with many records:
 * `bin/bun bench/request-log.ts --records 1000000 --days 1`. With `--database-url` it fills an empty PostgreSQL database instead.
 */
import { parseArgs } from 'node:util'

import { isoTimestamp, systemClock } from '../src/lib/clock.ts'
import type { GenerationFilter } from '../src/storage/generations/generation-filter.ts'
import { createGenerationList } from '../src/storage/generations/generation-list.ts'
import { createSearchStore } from '../src/storage/generations/search-store.ts'
import { createUsageSeries, type UsageQuery } from '../src/storage/usage/usage-series.ts'
import { measureReads } from './measure-reads.ts'
import { fillRequestLog } from '../test/support/request-log-records.ts'
import { measureFilled } from './filled-database.ts'

const { values } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, days: { type: 'string', default: '1' }, 'database-url': { type: 'string' } },
})
const [records, days] = [Number(values.records), Number(values.days)]
const LIMIT = 51
const DAY_MS = 86_400_000

const measure = measureReads(/"gen-\d+"/g)

const fromMs = systemClock.now() - days * DAY_MS

await measureFilled(
  {
    databaseUrl: values['database-url'] ?? null,
    records: `${records} records of ${days} days`,
    fill: (database, databaseUrl) => fillRequestLog(database, databaseUrl, { records, days, fromMs }),
  },
  async (database) => {
    const list = createGenerationList(database)
    const all: GenerationFilter = { from: isoTimestamp(fromMs), to: null, workspaceId: null, ownedBy: null }
    const page = (more: Partial<GenerationFilter>) => () => list.page({ ...all, ...more }, null, LIMIT)
    await measure('newest page, all workspaces', page({}))
    await measure('newest page, a workspace', page({ workspaceId: 'w-1' }))
    await measure('newest page, a rare workspace', page({ workspaceId: 'rare' }))
    const middle = { createdAt: isoTimestamp(fromMs + (days * DAY_MS) / 2), id: 'gen-5' }
    await measure('a page in the middle', () => list.page({ ...all, workspaceId: 'w-1' }, middle, LIMIT))
    await measure('errors', page({ status: 'error', workspaceId: 'w-1' }))
    await measure('cancelled', page({ status: 'cancelled', workspaceId: 'w-1' }))
    await measure('a key', page({ keyHash: 'key-7' }))
    await measure('a key that was never used', page({ keyHash: 'nobody' }))
    await measure('a key, errors', page({ keyHash: 'key-7', status: 'error' }))
    await measure('a person', page({ ownedBy: 'user-3', workspaceId: 'w-1' }))
    await measure('a preset of two workspaces', page({ presetIds: ['preset-3', 'preset-7'] }))
    await measure('a type of error', page({ errorType: 'provider_overloaded' }))
    await measure('an interface', page({ interface: 'chat', workspaceId: 'w-1' }))
    await measure('an interface that nobody uses', page({ interface: 'messages', workspaceId: 'w-1' }))
    await measure('with contents, where none are kept', page({ hasContent: true }))
    await measure('without a preset', page({ hasPreset: false, workspaceId: 'w-1' }))
    await measure('with a preset', page({ hasPreset: true, workspaceId: 'w-1' }))
    await measure('a guardrail that found nothing', page({ guardrailId: 'nobody', workspaceId: 'w-1' }))
    await measure('without errors', page({ status: 'ok', workspaceId: 'w-1' }))
    await measure('a preset', page({ presetIds: ['preset-3'], workspaceId: 'w-1' }))
    await measure('a session', page({ sessionId: 's-77' }))
    await measure('a request', page({ requestId: 'req-4711' }))
    await measure('a rare model', page({ model: 'rare/model' }))
    await measure('a rare provider', page({ provider: 'rare' }))
    await measure('a provider that nobody asked', page({ provider: 'nobody', workspaceId: 'w-1' }))
    await measure('cost above all', page({ minCostNanos: 10_000 }))
    await measure('slower than all', page({ minTotalMs: 1_000_000, workspaceId: 'w-1' }))
    await measure('ended in the last 10 s', () => list.ended(all, isoTimestamp(systemClock.now() - 10_000), 20_000))
    const usage = createUsageSeries(database)
    const range = {
      from: isoTimestamp(fromMs),
      to: isoTimestamp(systemClock.now() + 3_600_000),
      top: 8,
      sort: 'cost',
      workspaceId: null,
      ownedBy: null,
      only: {},
    } as const
    await measure('usage by hour', () => usage.read({ ...range, interval: 'hour', groupBy: [] }))
    await measure('usage by hour, key and model', () => usage.read({ ...range, interval: 'hour', groupBy: ['key', 'model'] }))
    for (const by of ['error_type', 'key', 'model', 'preset'] as const)
      await measure(`failures by ${by}`, () => usage.read({ ...range, interval: 'month', groupBy: [by], sort: 'errors' }))
    await measure('failures by key, of a workspace', () =>
      usage.read({ ...range, interval: 'month', groupBy: ['key'], sort: 'errors', workspaceId: 'w-1' }),
    )
    await measure('usage of the month, for its budget', () =>
      usage.read({
        ...range,
        from: `${isoTimestamp(fromMs).slice(0, 8)}01T00:00:00.000Z`,
        interval: 'month',
        groupBy: [],
        workspaceId: 'w-1',
      }),
    )
    /** As the service does, it groups by hour if there are too many records for minutes. */
    const minutesOf =
      (hours: number, more: Partial<UsageQuery> = {}) =>
      async () => {
        const from = isoTimestamp(systemClock.now() - hours * 3_600_000)
        const asked: UsageQuery = { ...range, from, interval: 'minute', groupBy: ['model'], ...more }
        return usage.read((await usage.isDense(asked)) ? { ...asked, interval: 'hour' } : asked)
      }
    await measure('usage by minute of an hour', minutesOf(1))
    await measure('usage by minute of six hours', minutesOf(6))
    await measure('failures by key, by minute of an hour', minutesOf(1, { groupBy: ['key'], sort: 'errors' }))
    const search = createSearchStore(database)
    await measure('search, an id', () => search.find('gen-4711', all, 8))
    await measure('search, the beginning of all ids', () => search.find('gen-', all, 8))
    await measure('search, the beginning of all ids, of a rare workspace', () => search.find('gen-', { ...all, workspaceId: 'rare' }, 8))
    await measure('search, a word', () => search.find('support', all, 8))
  },
)
