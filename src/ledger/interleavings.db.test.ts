/**
 * Checks invariants I1-I11 (docs/contract/budgets.md#invariants) over random histories: admissions, holds that grow, settlements, deaths,
 * reaping, deletion of old rows, time, and limits that change.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { changedBy } from '../../test/support/changed-by.ts'
import { describeEachSettler } from '../../test/support/databases.ts'
import { createFakeClock, T0 } from '../../test/support/fake-clock.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp } from '../lib/clock.ts'
import type { Database } from '../storage/database.ts'
import { auditLedger } from '../storage/ledger/ledger-audit.ts'
import { pruneLedger } from '../storage/ledger/prune-ledger.ts'
import { settlementOf } from '../storage/testing/settlement.ts'
import { limitOf, openNode, prepareMoney, recordOf, type Node, type Running } from './ledger.test-kit.ts'

type Step =
  | { readonly does: 'admit'; readonly node: number; readonly key: number; readonly estimate: number }
  | { readonly does: 'grow'; readonly which: number; readonly estimate: number }
  | { readonly does: 'prune' }
  | { readonly does: 'settle'; readonly which: number; readonly cost: number; readonly again: boolean }
  | { readonly does: 'spend-unlimited'; readonly node: number; readonly key: number; readonly cost: number }
  | { readonly does: 'die'; readonly node: number }
  | { readonly does: 'pass'; readonly seconds: number }
  | { readonly does: 'tend'; readonly node: number }
  | { readonly does: 'limit'; readonly key: number; readonly limit: number; readonly interval: number }
  | { readonly does: 'budget'; readonly limit: number }

const KEYS = 3
const INTERVALS = ['daily', 'weekly', 'monthly', null] as const

const below = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant('admit' as const), node: below(1), key: below(KEYS - 1), estimate: below(400) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('grow' as const), which: below(50), estimate: below(600) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('prune' as const) }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('settle' as const), which: below(50), cost: below(600), again: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('spend-unlimited' as const), node: below(1), key: below(KEYS - 1), cost: below(100) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('die' as const), node: below(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('pass' as const), seconds: fc.constantFrom(1, 15, 61, 3600, 86_400, 7 * 86_400) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('tend' as const), node: below(1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('limit' as const), key: below(KEYS - 1), limit: below(2000), interval: below(3) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('budget' as const), limit: fc.integer({ min: 1, max: 3000 }) }) },
)

/** The steps of one burst run concurrently. */
const history = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 3, maxLength: 12 })

const TABLES = [
  'hold',
  'hold_scope',
  'scope_window',
  'ledger',
  'key_usage_days',
  'workspace_spend',
  'usage_hours',
  'generations',
  'workspace_budgets',
] as const

const empty = (database: Database): Promise<void> =>
  database.transaction(async (transaction) => {
    for (const table of TABLES) await transaction.deleteFrom(table).execute()
  })

/** Ids begin with the time of admission. */
const dayOf = ({ id }: Running): string => isoTimestamp(Number(id.split('-')[1])).slice(0, 10)

const RUNS = { sqlite: 250, postgres: 20 } as const

describeEachSettler('every history of a ledger', (engine) => {
  test('keeps all money invariants', async () => {
    const location = await engine.locate()
    const first = await engine.open(location)
    // A SQLite file has one service; PostgreSQL has several, which know of each other only through their rows.
    const databases = [first, engine.name === 'sqlite' ? first : await engine.open(location)]
    const money = await prepareMoney(first, createFakeClock(), KEYS)
    let admitted = 0
    let refused = 0
    let grown = 0

    const play = async (bursts: readonly (readonly Step[])[]): Promise<void> => {
      await empty(first)
      money.budgets.refreshCache()
      const clock = createFakeClock(T0)
      const start = (index: number): Node => openNode(databases[index] ?? first, clock, { sources: [money.budgets] })
      const nodes = [start(0), engine.name === 'sqlite' ? undefined : start(1)]
      const nodeOf = (index: number): Node => nodes[engine.name === 'sqlite' ? 0 : index] as Node
      const limits = Array.from({ length: KEYS }, () => limitOf(1000))
      const running: (Running & { readonly node: number })[] = []
      const ended: { readonly run: Running; readonly cost: number; readonly node: number }[] = []
      let unlimited = 0
      /** The ledger may have lost requests of earlier days. */
      let keptFrom = ''

      const take = async (action: Step): Promise<void> => {
        switch (action.does) {
          case 'admit': {
            const spender = money.spender(action.key, limits[action.key] ?? null)
            try {
              const begun = await nodeOf(action.node).begin(spender, action.estimate, { promptNanos: Math.floor(action.estimate / 4) })
              admitted += 1
              running.push({ ...begun, node: action.node })
            } catch (thrown) {
              refused += 1
              if (!(thrown instanceof GatewayError) || ![402, 403].includes(thrown.status)) throw thrown
            }
            return
          }
          case 'grow': {
            const run = running[action.which % Math.max(1, running.length)]
            if (run === undefined) return
            try {
              await run.grow(action.estimate)
              grown += 1
            } catch (thrown) {
              // 503: its node was taken for dead, and another one has ended its hold.
              if (!(thrown instanceof GatewayError) || ![402, 403, 503].includes(thrown.status)) throw thrown
            }
            return
          }
          case 'prune':
            keptFrom = isoTimestamp(clock.now() - 2 * 86_400_000).slice(0, 10)
            await pruneLedger(first, keptFrom, 3)
            return
          case 'settle': {
            const run = running.splice(action.which % Math.max(1, running.length), 1)[0]
            if (run === undefined) return
            ended.push({ run, cost: action.cost, node: run.node })
            nodeOf(run.node).ledger.ended(run.id)
            const settlement = run.settlement(action.cost)
            await nodeOf(run.node).settle([settlement])
            if (action.again) await nodeOf(run.node).settle([settlement])
            return
          }
          case 'spend-unlimited': {
            unlimited += 1
            const record = recordOf(`gen-unlimited-${unlimited}`, money.spender(action.key), clock.now(), action.cost)
            return nodeOf(action.node).settle([settlementOf(record)])
          }
          case 'die': {
            const index = engine.name === 'sqlite' ? 0 : action.node
            // The process has lost its memory: its clients get nothing more, and nothing of it is settled.
            for (let at = running.length - 1; at >= 0; at -= 1)
              if (engine.name === 'sqlite' || running[at]?.node === index) running.splice(at, 1)
            clock.advance(1)
            nodes[index] = start(index)
            return
          }
          case 'pass':
            clock.advance(action.seconds * 1000)
            return
          case 'tend':
            return nodeOf(action.node).ledger.tend()
          case 'limit':
            limits[action.key] = limitOf(action.limit, INTERVALS[action.interval] ?? null)
            return
          case 'budget':
            await money.budgets.put(
              { workspaceId: money.workspaceId, span: 'monthly', limitNanos: action.limit, includeByok: false },
              changedBy(),
            )
        }
      }

      for (const burst of bursts) {
        await Promise.all(burst.map(take))
        // I6 applies to the end: before that, a dead node's holds may wait to be reaped.
        const breaches = (await auditLedger(first, isoTimestamp(clock.now()))).filter(({ invariant }) => invariant !== 'I6')
        expect(breaches).toEqual([])
      }

      // The faults stop: within 90 seconds only running requests have holds, and after they have ended nothing is held.
      for (let passed = 0; passed < 90; passed += 10) {
        clock.advance(10_000)
        for (const node of nodes) await node?.ledger.tend()
      }
      const held = await first.kysely.selectFrom('hold').select('request_id').where('state', '=', 'held').execute()
      const ids = new Set(running.map(({ id }) => id))
      expect(held.filter(({ request_id }) => !ids.has(request_id))).toEqual([])
      for (const run of running) await run.end(1)
      expect(await first.kysely.selectFrom('hold_scope').selectAll().execute()).toEqual([])
      const holding = await first.kysely.selectFrom('scope_window').selectAll().where('held_n', '>', 0).execute()
      expect(holding).toEqual([])
      expect(await auditLedger(first, isoTimestamp(clock.now()))).toEqual([])
      // Every request that ended was charged its cost exactly once, whoever had charged something before.
      for (const { run, cost } of ended) {
        if (dayOf(run) < keptFrom) continue
        const rows = await first.kysely.selectFrom('ledger').select('amount_n').where('request_id', '=', run.id).execute()
        expect(rows.reduce((sum, { amount_n }) => sum + amount_n, 0)).toBe(cost)
      }
    }

    await fc.assert(fc.asyncProperty(history, play), { numRuns: RUNS[engine.name], seed: 20261121 })
    expect(admitted).toBeGreaterThan(50)
    expect(refused).toBeGreaterThan(20)
    expect(grown).toBeGreaterThan(10)
  }, 300_000)
})

describeEachSettler('admission', (engine) => {
  test('I4 and I7: whatever runs together, what is spent and held after an admission is within every limit it was admitted under', async () => {
    const location = await engine.locate()
    const first = await engine.open(location)
    const second = engine.name === 'sqlite' ? first : await engine.open(location)
    const clock = createFakeClock()
    const money = await prepareMoney(first, clock, KEYS)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: below(KEYS - 1), estimate: below(300), actual: below(300), other: fc.boolean() }), {
          minLength: 20,
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 4000 }),
        async (requests, budget) => {
          await empty(first)
          await money.budgets.put({ workspaceId: money.workspaceId, span: 'monthly', limitNanos: budget, includeByok: false }, changedBy())
          const nodes = [
            openNode(first, clock, { sources: [money.budgets] }),
            openNode(second, clock, { sources: [money.budgets] }),
          ] as const
          let overshoot = 0
          await Promise.all(
            requests.map(async ({ key, estimate, actual, other }) => {
              const node = nodes[other && engine.name === 'postgres' ? 1 : 0]
              const begun = await node.begin(money.spender(key, limitOf(1000)), estimate).catch(() => null)
              if (begun === null) return
              overshoot += Math.max(0, actual - estimate)
              await begun.end(actual)
            }),
          )
          const windows = await first.kysely.selectFrom('scope_window').selectAll().execute()
          for (const { subject, committed_n, held_n } of windows) {
            const limit = subject.startsWith('workspace') ? budget : 1000
            expect(committed_n + held_n).toBeLessThanOrEqual(limit + overshoot)
          }
        },
      ),
      { numRuns: engine.name === 'sqlite' ? 40 : 15, seed: 20261121 },
    )
  }, 300_000)
})
