import { expect, test } from 'bun:test'
import { sql } from 'kysely'

import { changedBy } from '../../test/support/changed-by.ts'
import { describeEachSettler, type TestEngine } from '../../test/support/databases.ts'
import { createFakeClock, T0 } from '../../test/support/fake-clock.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { createGenerationRecorder } from '../inference/settle/record-generations.ts'
import { createHoldStore } from '../storage/ledger/hold-store.ts'
import { auditLedger } from '../storage/ledger/ledger-audit.ts'
import { pruneLedger } from '../storage/ledger/prune-ledger.ts'
import type { Database } from '../storage/database.ts'
import { rejection } from '../storage/testing/rejection.ts'
import { settlementOf } from '../storage/testing/settlement.ts'
import type { Scope } from './scope.ts'
import { limitOf, openNode, prepareMoney, recordOf, type Running } from './ledger.test-kit.ts'

const open = async (engine: TestEngine, keys = 3) => {
  const database = await engine.open()
  const clock = createFakeClock()
  const money = await prepareMoney(database, clock, keys)
  const node = openNode(database, clock, { sources: [money.budgets] })
  const held = async (): Promise<number> =>
    (await database.kysely.selectFrom('hold').selectAll().where('state', '=', 'held').execute()).length
  const expectFine = async (): Promise<void> => expect(await auditLedger(database, isoTimestamp(clock.now()))).toEqual([])
  const ledgerRows = () => database.kysely.selectFrom('ledger').select(['kind', 'amount_n', 'estimated']).orderBy('kind').execute()
  return { database, clock, ...money, node, held, expectFine, ledgerRows }
}

const metadataOf = (thrown: unknown): Record<string, unknown> =>
  thrown instanceof GatewayError ? { status: thrown.status, ...thrown.metadata } : {}

describeEachSettler('a limit', (engine) => {
  test('lets in exactly what fits of 200 at once, and the others once those have ended for less', async () => {
    const { node, spender, expectFine, held } = await open(engine)
    const limited = spender(0, limitOf(50 * 100 + 99))
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => node.begin(limited, 100)))
    const admitted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(admitted).toHaveLength(50)
    expect(await held()).toBe(50)
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue
      const error = outcome.reason as GatewayError
      expect(metadataOf(error)).toMatchObject({
        status: 402,
        limit_source: 'service_in_flight_budget',
        reason: 'in_flight_budget_exhausted',
      })
      expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(1)
      expect(error.retryAfterSeconds).toBeLessThanOrEqual(60)
    }
    await expectFine()
    await Promise.all(admitted.map((running) => running.end(10)))
    const again = await Promise.allSettled(Array.from({ length: 200 }, () => node.begin(limited, 100)))
    expect(again.filter(({ status }) => status === 'fulfilled')).toHaveLength(Math.floor((5099 - 500) / 100))
    await expectFine()
  })

  test('that is spent is a 403 with all figures, and so is one that this request alone may break', async () => {
    const { node, spender, expectFine } = await open(engine)
    const limited = spender(0, limitOf(1000))
    await (await node.begin(limited, 400)).end(400)
    const tooLarge = await rejection(node.begin(limited, 601))
    expect(metadataOf(tooLarge)).toMatchObject({ status: 403, limit_source: 'service_key_limit', reason: 'weight_exceeds_budget' })
    await (await node.begin(limited, 600)).end(700)
    const spent = await rejection(node.begin(limited, 0))
    expect(metadataOf(spent)).toEqual({
      status: 403,
      limit_source: 'service_key_limit',
      scope: 'key_limit',
      limit_usd: 0.000001,
      spend_usd: 0.0000011,
      resets_at: '2026-12-01T00:00:00.000Z',
      remedy_hint: 'Wait for the reset, or raise the limit of the key.',
    })
    expect((spent as GatewayError).message).toEndWith('Used $0.0000011 of $0.000001; resets at 2026-12-01T00:00:00.000Z.')
    expect((spent as GatewayError).retryAfterSeconds).toBeUndefined()
    await expectFine()
  })

  test('counts what was spent in its window before it was set, and a changed one what is held too', async () => {
    const { node, spender, expectFine } = await open(engine)
    await node.settle([settlementOf(recordOf('gen-early', spender(0), T0, 700))])
    expect(metadataOf(await rejection(node.begin(spender(0, limitOf(700)), 1)))).toMatchObject({ status: 403, spend_usd: 0.0000007 })
    const running = await node.begin(spender(0, limitOf(1000)), 200)
    expect(metadataOf(await rejection(node.begin(spender(0, limitOf(1000)), 101)))).toMatchObject({ status: 402 })
    await node.begin(spender(0, limitOf(1001)), 101)
    // Meanwhile the limit was removed and another one set: spending without a limit still counts.
    await node.settle([settlementOf(recordOf('gen-between', spender(0), T0, 5000))])
    expect(metadataOf(await rejection(node.begin(spender(0, limitOf(5700)), 1)))).toMatchObject({ status: 403, spend_usd: 0.0000057 })
    await running.end(200)
    await expectFine()
  })

  test('is charged in the window of the admission, when the window ends meanwhile, and a new one begins with nothing', async () => {
    const { node, spender, clock, expectFine } = await open(engine)
    clock.setWall(Date.UTC(2026, 10, 30, 23, 59, 59))
    const limited = spender(0, limitOf(1000, 'daily'))
    const running = await node.begin(limited, 1000)
    clock.advance(2000)
    await node.begin(limited, 1000)
    await running.end(900)
    const [figures] = await node.ledger.figures(limited, clock.now())
    expect(figures).toMatchObject({ spentNanos: 0, heldNanos: 1000 })
    const [before] = await node.ledger.figures(limited, clock.now() - 5000)
    expect(before).toMatchObject({ spentNanos: 900, heldNanos: 0 })
    await expectFine()
  })

  test('that is not there costs no query', async () => {
    const { database, spender, clock } = await open(engine)
    const node = openNode(refusing(database), clock)
    expect(node.ledger.scopesOf(spender(0))).toEqual([])
  })

  test('is a 503 with Retry-After while storage cannot tell', async () => {
    const { database, spender, clock, expectFine, held } = await open(engine)
    const node = openNode(refusing(database), clock)
    const error = (await rejection(node.begin(spender(0, limitOf(1000)), 1))) as GatewayError
    expect([error.status, error.retryAfterSeconds]).toEqual([503, 1])
    expect(await held()).toBe(0)
    await expectFine()
  })

  test('that is full is asked again when what has ended is settled, and storage that breaks there turns away nobody who is in', async () => {
    const { database, spender, clock, held, expectFine } = await open(engine)
    let away = false
    const ended: Running[] = []
    const flaky: Database = {
      ...database,
      transaction: (work, durability) => (away ? Promise.reject(new Error('away')) : database.transaction(work, durability)),
    }
    const node = openNode(flaky, clock, {
      settleFirst: async () => {
        for (const running of ended.splice(0)) await running.end(1)
      },
    })
    const full = spender(0, limitOf(1000))
    ended.push(await node.begin(full, 900))
    const another = await node.begin(full, 900)
    expect(await held()).toBe(1)

    const breaking = openNode(flaky, clock, { settleFirst: async () => void (away = true) })
    const free = spender(1, limitOf(1000))
    const outcomes = await Promise.allSettled([breaking.begin(free, 1), breaking.begin(free, 2), breaking.begin(full, 900)])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    // Its hold may have been written, so it must not be refused as a request that has none.
    expect(metadataOf((outcomes[2] as PromiseRejectedResult).reason)).toMatchObject({ status: 503 })
    away = false
    await breaking.ledger.tend()
    expect(await held()).toBe(3)
    await another.end(1)
    await expectFine()
  })

  test('whose answer to the commit was lost holds nothing for long', async () => {
    const { database, spender, clock, held, expectFine, ledgerRows } = await open(engine)
    let lost = true
    const node = openNode(
      {
        ...database,
        async transaction(work, durability) {
          const done = await database.transaction(work, durability)
          if (lost && (await held()) > 0) throw new Error('the connection broke')
          return done
        },
      },
      clock,
    )
    expect(((await rejection(node.begin(spender(0, limitOf(1000)), 400))) as GatewayError).status).toBe(503)
    expect(await held()).toBe(1)
    lost = false
    await node.ledger.tend()
    expect(await held()).toBe(0)
    expect(await ledgerRows()).toEqual([])
    await expectFine()
  })

  test('whose process is killed after a 503, before it could release the hold, holds nothing after 90 seconds and costs its prompt at most', async () => {
    const { database, spender, clock, held, expectFine, ledgerRows } = await open(engine)
    let isKilled = false
    const doomed = openNode(
      {
        ...database,
        async transaction(work, durability) {
          if (isKilled) throw new Error('away')
          const done = await database.transaction(work, durability)
          if ((await held()) === 0) return done
          isKilled = true
          throw new Error('the connection broke')
        },
      },
      clock,
    )
    const limited = spender(0, limitOf(1000))
    expect(((await rejection(doomed.begin(limited, 400, { promptNanos: 70 }))) as GatewayError).status).toBe(503)
    expect(await held()).toBe(1)
    // This process does nothing more, and another one starts.
    clock.advance(1)
    const other = openNode(database, clock)
    for (let seconds = 0; seconds < 90; seconds += 10) {
      await other.ledger.tend()
      clock.advance(10_000)
    }
    expect(await held()).toBe(0)
    expect(await ledgerRows()).toEqual([{ kind: 'reaped', amount_n: 70, estimated: 1 }])
    await expectFine()
  })

  test('whose process was cut off and taken for dead costs nothing once that process is back', async () => {
    const { database, spender, clock, held, expectFine } = await open(engine)
    let isCutOff = false
    const cutOff = openNode(
      {
        ...database,
        async transaction(work, durability) {
          if (isCutOff) throw new Error('away')
          const done = await database.transaction(work, durability)
          isCutOff = (await held()) > 0
          if (isCutOff) throw new Error('the connection broke')
          return done
        },
      },
      clock,
    )
    const limited = spender(0, limitOf(1000))
    expect(((await rejection(cutOff.begin(limited, 400, { promptNanos: 70 }))) as GatewayError).status).toBe(503)
    clock.advance(90_000)
    const other = openNode(database, clock)
    await other.ledger.tend()
    expect(await other.ledger.figures(limited, clock.now())).toMatchObject([{ spentNanos: 70, heldNanos: 0 }])
    isCutOff = false
    await cutOff.ledger.tend()
    expect(await other.ledger.figures(limited, clock.now())).toMatchObject([{ spentNanos: 0, heldNanos: 0 }])
    await expectFine()
  })
})

/** Storage that is unavailable. */
const refusing = (database: Database): Database => ({
  ...database,
  transaction: () => Promise.reject(new Error('away')),
})

describeEachSettler('a new window', (engine) => {
  test('begins with all that was spent in it, also by what is charged at the same moment elsewhere', async () => {
    const location = await engine.locate()
    const first = await engine.open(location)
    const second = engine.name === 'sqlite' ? first : await engine.open(location)
    const clock = createFakeClock()
    const { spender } = await prepareMoney(first, clock, 40)
    const [spending, limiting] = [openNode(first, clock), openNode(second, clock)]
    for (let key = 0; key < 40; key += 1) {
      const settlements = Array.from({ length: 5 }, (_, index) => settlementOf(recordOf(`gen-${key}-${index}`, spender(key), T0, 1)))
      await Promise.all([
        ...settlements.map((settlement) => spending.settle([settlement])),
        limiting.ledger.figures(spender(key, limitOf(1000, 'daily')), T0),
        limiting.ledger.figures(spender(key, limitOf(1000, null)), T0),
      ])
    }
    const windows = await first.kysely.selectFrom('scope_window').select('committed_n').execute()
    expect(windows.map(({ committed_n }) => committed_n)).toEqual(Array.from({ length: 80 }, () => 5))
    expect(await auditLedger(first, isoTimestamp(clock.now()))).toEqual([])
  })
})

describeEachSettler('scopes', (engine) => {
  test('the first in the order of checks is reported, and of workspace budgets the broadest', async () => {
    const { node, spender, budgets, workspaceId } = await open(engine)
    await budgets.put({ workspaceId, span: 'daily', limitNanos: 10, includeByok: false }, changedBy())
    await budgets.put({ workspaceId, span: 'lifetime', limitNanos: 20, includeByok: false }, changedBy())
    await node.settle([settlementOf(recordOf('gen-1', spender(1), T0, 15))])
    expect(metadataOf(await rejection(node.begin(spender(0, limitOf(0)), 1)))).toMatchObject({ scope: 'workspace', limit_usd: 1e-8 })
    await node.settle([settlementOf(recordOf('gen-2', spender(1), T0, 15))])
    expect(metadataOf(await rejection(node.begin(spender(0, limitOf(0)), 1)))).toMatchObject({
      status: 403,
      limit_source: 'service_workspace_budget',
      scope: 'workspace',
      limit_usd: 2e-8,
      spend_usd: 3e-8,
      resets_at: null,
    })
  })

  test('a request holds in every scope or in none', async () => {
    const { node, spender, budgets, workspaceId, clock, expectFine } = await open(engine)
    await budgets.put({ workspaceId, span: 'monthly', limitNanos: 150, includeByok: false }, changedBy())
    await node.begin(spender(0, limitOf(1000)), 100)
    await rejection(node.begin(spender(1, limitOf(1000)), 100))
    const figures = await node.ledger.figures(spender(1, limitOf(1000)), clock.now())
    expect(figures.map(({ scope, heldNanos }) => [scope.kind, heldNanos])).toEqual([
      ['workspace', 100],
      ['key_limit', 0],
    ])
    await expectFine()
  })

  test('a budget that allows the last request lets in one that may break it, alone', async () => {
    const { node, spender, budgets, workspaceId, expectFine } = await open(engine)
    await budgets.put({ workspaceId, span: 'monthly', limitNanos: 1000, includeByok: false, allowLastRequest: true }, changedBy())
    const small = await node.begin(spender(0), 100)
    expect(metadataOf(await rejection(node.begin(spender(0), 5000)))).toMatchObject({
      status: 402,
      limit_source: 'service_in_flight_budget',
    })
    await small.end(100)
    const last = await node.begin(spender(0), 5000)
    expect(metadataOf(await rejection(node.begin(spender(0), 1)))).toMatchObject({ status: 402 })
    await last.end(900)
    expect(metadataOf(await rejection(node.begin(spender(0), 1)))).toMatchObject({ status: 403 })
    await expectFine()
  })

  test('no request holds more than $4,000,000, also one that breaks a budget or whose hold grows: larger numbers could not be read again', async () => {
    const { node, spender, budgets, workspaceId, expectFine } = await open(engine)
    await budgets.put({ workspaceId, span: 'monthly', limitNanos: 1000, includeByok: false, allowLastRequest: true }, changedBy())
    const last = await node.begin(spender(0), 12_000_000 * 1e9)
    await last.grow(13_000_000 * 1e9)
    const [figures] = await node.ledger.figures(spender(0), T0)
    expect(figures?.heldNanos).toBe(4_000_000 * 1e9)
    await last.end(900)
    await expectFine()
  })

  test('credit: 402 service_credits when it is used up, or too small; a share of it may be in flight', async () => {
    const { database, clock, spender, credits, workspaceId, expectFine } = await open(engine)
    const node = openNode(database, clock, { sources: [credits] })
    expect(metadataOf(await rejection(node.begin(spender(0), 0)))).toMatchObject({ status: 402, limit_source: 'service_credits' })
    await credits.add({ workspaceId, amountNanos: 1000, note: 'bought' }, changedBy())
    for (const estimate of [501, 1001]) {
      const error = (await rejection(node.begin(spender(0), estimate))) as GatewayError
      expect(metadataOf(error)).toMatchObject({ status: 402, limit_source: 'service_credits', reason: 'weight_exceeds_budget' })
      expect(error.retryAfterSeconds).toBeUndefined()
    }
    const running = await node.begin(spender(0), 400)
    const full = (await rejection(node.begin(spender(1), 200))) as GatewayError
    expect(metadataOf(full)).toMatchObject({ status: 402, limit_source: 'service_in_flight_budget', reason: 'in_flight_budget_exhausted' })
    // The running request began now and is expected to take five seconds, plus up to a fifth at random.
    expect(full.retryAfterSeconds).toBeGreaterThanOrEqual(5)
    expect(full.retryAfterSeconds).toBeLessThanOrEqual(6)
    await running.end(1000)
    expect(metadataOf(await rejection(node.begin(spender(0), 0)))).toMatchObject({
      status: 402,
      limit_source: 'service_credits',
      spend_usd: 1e-6,
    })
    await expectFine()
  })

  test('a ceiling bounds what is in flight', async () => {
    const { database, clock, spender, credits, workspaceId } = await open(engine)
    const node = openNode(database, clock, { sources: [credits], inFlight: { fraction: 1, ceilingNanos: 300 } })
    await credits.add({ workspaceId, amountNanos: 1000, note: 'bought' }, changedBy())
    expect(metadataOf(await rejection(node.begin(spender(0), 301)))).toMatchObject({ reason: 'weight_exceeds_budget' })
    await node.begin(spender(0), 300)
    expect(metadataOf(await rejection(node.begin(spender(0), 1)))).toMatchObject({ reason: 'in_flight_budget_exhausted' })
  })

  test('spending with customers’ own keys counts where the scope says so', async () => {
    const { node, spender, expectFine } = await open(engine)
    await node.settle([
      settlementOf({ ...recordOf('gen-1', spender(0), T0, 0), byokCostNanos: 600 }, {}),
      settlementOf(recordOf('gen-2', spender(0), T0, 300)),
    ])
    const without = await node.begin(spender(0, limitOf(1000)), 700)
    await without.end(0)
    expect(metadataOf(await rejection(node.begin(spender(0, { ...limitOf(1000), includeByok: true }), 101)))).toMatchObject({
      status: 403,
      spend_usd: 0.0000009,
    })
    await expectFine()
  })
})

describeEachSettler('storage that is away', (engine) => {
  test('stops nobody without a limit; what ended meanwhile is charged once when it is back', async () => {
    const { database, clock, spender, expectFine, ledgerRows } = await open(engine)
    let away = true
    let lost = true
    const flaky: Database = {
      ...database,
      settleLines: null,
      async transaction(work, durability) {
        if (away) throw new Error('away')
        const done = await database.transaction(work, durability)
        // The first answer to a commit is lost, but the data is written.
        if (lost) {
          lost = false
          throw new Error('the connection broke')
        }
        return done
      },
    }
    const node = openNode(flaky, clock)
    const faults: unknown[] = []
    const recorder = createGenerationRecorder({ write: node.ledger.settle, clock, onError: (thrown) => faults.push(thrown) })
    for (const id of ['gen-1', 'gen-2']) recorder.add(JSON.stringify(settlementOf(recordOf(id, spender(0), T0, 5))))
    await recorder.flush()
    expect([((await rejection(node.begin(spender(0, limitOf(1000)), 1))) as GatewayError).status, faults.length]).toEqual([503, 1])
    away = false
    await recorder.flush()
    await recorder.flush()
    expect(await ledgerRows()).toEqual([
      { kind: 'final', amount_n: 5, estimated: 0 },
      { kind: 'final', amount_n: 5, estimated: 0 },
    ])
    expect((await node.ledger.figures(spender(0, limitOf(1000)), clock.now()))[0]?.spentNanos).toBe(10)
    await expectFine()
    await recorder.close()
  })
})

describeEachSettler('the ledger', (engine) => {
  test('forgets old days a portion at a time, and reads all windows for the last one alone; what was used stays, and the audit knows where it begins', async () => {
    const { database, clock, node, spender, credits, workspaceId, expectFine, ledgerRows } = await open(engine)
    const old = ['gen-1', 'gen-2', 'gen-3'].map((id) => settlementOf(recordOf(id, spender(0), T0 - 40 * 86_400_000, 5)))
    await node.settle([...old, settlementOf(recordOf('gen-4', spender(0), T0, 7))])
    await node.ledger.figures(spender(0, limitOf(1000)), T0 - 40 * 86_400_000)
    await expectFine()
    const pruned = async () => pruneLedger(database, '2026-11-01', 2)
    const windows = async () => (await database.kysely.selectFrom('scope_window').selectAll().execute()).length
    expect([await pruned(), await windows()]).toEqual([2, 1])
    expect([await pruned(), await windows()]).toEqual([1, 0])
    expect(await pruned()).toBe(0)
    expect(await ledgerRows()).toHaveLength(1)
    expect(await credits.spent(workspaceId)).toBe(22)
    await expectFine()
    await database.transaction((transaction) => transaction.deleteFrom('ledger').execute())
    expect((await auditLedger(database, isoTimestamp(clock.now()))).map(({ invariant }) => invariant)).toEqual(['I8', 'I9', 'I10'])
  })
})

describeEachSettler('windows that are over', (engine) => {
  test('are deleted a portion at a time; those that still hold something stay, and so do those that go on', async () => {
    const { database, clock, node, spender, expectFine } = await open(engine, 5)
    const daily = (key: number) => spender(key, limitOf(1000, 'daily'))
    for (let key = 0; key < 4; key += 1) await (await node.begin(daily(key), 10)).end(1)
    const running = await node.begin(daily(4), 10)
    clock.advance(3 * 86_400_000)
    await node.begin(daily(0), 10)
    const windows = async () => (await database.kysely.selectFrom('scope_window').selectAll().execute()).length
    const today = isoTimestamp(clock.now()).slice(0, 10)
    await database.transaction((transaction) => transaction.deleteFrom('ledger').execute())
    expect(await windows()).toBe(6)
    expect([await pruneLedger(database, today, 2), await windows()]).toEqual([2, 4])
    expect([await pruneLedger(database, today, 2), await windows()]).toEqual([2, 2])
    expect([await pruneLedger(database, today, 2), await windows()]).toEqual([0, 2])
    await running.end(1)
    expect([await pruneLedger(database, today, 2), await windows()]).toEqual([1, 1])
    await expectFine()
  })
})

describeEachSettler('holds', (engine) => {
  test('of running processes stay when a clock is an hour ahead and another one an hour behind: leases end by the time that all share', async () => {
    // A SQLite file is used by one process only.
    if (engine.name === 'sqlite') return
    const { database, clock, node, spender, held } = await open(engine)
    const limited = spender(0, limitOf(100_000))
    const withClock = (wallMs: number) => openNode(database, createFakeClock(wallMs), { sharedNow: clock.now })
    const [ahead, behind] = [withClock(T0 + 3_600_000), withClock(T0 - 3_600_000)]
    for (const each of [node, ahead, behind]) await each.begin(limited, 2000)
    for (const each of [ahead, behind, node]) await each.ledger.tend()
    expect(await held()).toBe(3)
  })

  test('are locked in the order of their ids, wherever several change: who waits for one has no later one, so nobody waits in a circle', async () => {
    // SQLite has one writer.
    if (engine.name === 'sqlite') return
    const { database, clock, node, spender } = await open(engine)
    const holds = createHoldStore(database)
    const begun = [await node.begin(spender(0, limitOf(1000)), 1), await node.begin(spender(0, limitOf(1000)), 1)]
    const [first = '', last = ''] = begun.map(({ id }) => id).sort()
    const rowOf = (id: string) => database.kysely.selectFrom('hold').selectAll().where('request_id', '=', id)
    const { node_id, node_epoch } = await rowOf(first).executeTakeFirstOrThrow()
    // Written anew, the first one lies behind the last one in the table.
    await database.kysely.updateTable('hold').set({ charge_n: 1 }).where('request_id', '=', first).execute()
    const changes: readonly (() => Promise<void>)[] = [
      () => holds.extendLeases({ id: node_id, epoch: node_epoch }, isoTimestamp(clock.now() + 1)),
      () => holds.release([last, first]),
    ]
    for (const change of changes) {
      const changing = await database.transaction(async (transaction) => {
        await transaction.selectFrom('hold').select('request_id').where('request_id', '=', first).forUpdate().execute()
        const waiting = change()
        for (let waits = false; !waits;) {
          const { rows } = await sql<{ waits: boolean }>`
            select exists (select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waits`.execute(
            database.kysely,
          )
          waits = rows[0]?.waits ?? false
        }
        await transaction.selectFrom('hold').select('request_id').where('request_id', '=', last).forUpdate().noWait().execute()
        return { waiting }
      })
      await changing.waiting
    }
  })

  test('of a process that died are charged by the last checkpoint and gone within 90 seconds; what then ends is charged the difference', async () => {
    const { database, clock, node, spender, held, expectFine, ledgerRows } = await open(engine)
    const limited = spender(0, limitOf(100_000))
    let spentSoFar = 0
    const streaming = await node.begin(limited, 5000, { promptNanos: 100, cost: () => spentSoFar })
    await node.begin(limited, 2000, { promptNanos: 70 })
    spentSoFar = 900
    clock.advance(10_000)
    await node.ledger.tend()
    expect(await held()).toBe(2)
    // From here on the process does nothing more, and another one takes over.
    const other = openNode(database, clock, {})
    for (let seconds = 0; seconds < 80; seconds += 10) {
      await other.ledger.tend()
      clock.advance(10_000)
    }
    expect(await held()).toBe(0)
    expect((await ledgerRows()).toSorted((a, b) => a.amount_n - b.amount_n)).toEqual([
      { kind: 'reaped', amount_n: 70, estimated: 1 },
      { kind: 'reaped', amount_n: 900, estimated: 1 },
    ])
    const [reaped] = await other.ledger.figures(limited, clock.now())
    expect(reaped).toMatchObject({ spentNanos: 970, heldNanos: 0 })
    await expectFine()
    // The first process was only asleep.
    await streaming.end(850)
    await streaming.end(850)
    const [after] = await other.ledger.figures(limited, clock.now())
    expect(after).toMatchObject({ spentNanos: 920, heldNanos: 0 })
    await expectFine()
  })

  test('of a process that lives stay, however long its requests run and wherever the wall clock jumps', async () => {
    const { clock, node, spender, held, expectFine } = await open(engine)
    const running = await node.begin(spender(0, limitOf(1000)), 500)
    for (let minutes = 0; minutes < 10; minutes += 1) {
      clock.advance(60_000)
      await node.ledger.tend()
    }
    clock.setWall(clock.now() + 3_600_000)
    await node.ledger.tend()
    clock.setWall(clock.now() - 2 * 3_600_000)
    await node.ledger.tend()
    expect(await held()).toBe(1)
    await running.end(10)
    await expectFine()
  })

  test('are counted again if a figure was lost, and the loss is logged', async () => {
    const { database, clock, node, spender, expectFine } = await open(engine)
    await node.begin(spender(0, limitOf(1000)), 500)
    await database.transaction((transaction) => transaction.updateTable('scope_window').set({ held_n: 7 }).execute())
    expect((await auditLedger(database, isoTimestamp(clock.now()))).map(({ invariant }) => invariant)).toEqual(['I2'])
    await node.ledger.tend()
    await expectFine()
  })

  test('are counted again in each window by itself, whether its figure or its holds are missing', async () => {
    const { database, clock, node, spender, expectFine } = await open(engine)
    await node.begin(spender(0, limitOf(1000)), 500)
    await node.begin(spender(1, limitOf(1000)), 300)
    await node.begin(spender(2, limitOf(1000)), 200)
    const heldBy = async (): Promise<readonly number[]> =>
      (await database.kysely.selectFrom('scope_window').select('held_n').orderBy('subject').execute()).map(({ held_n }) => held_n)
    await database.transaction(async (transaction) => {
      await transaction.updateTable('scope_window').set({ held_n: 0 }).where('held_n', '=', 500).execute()
      await transaction.deleteFrom('hold_scope').where('amount_n', '=', 300).execute()
      await transaction.deleteFrom('hold').where('amount_n', '=', 300).execute()
    })
    expect((await auditLedger(database, isoTimestamp(clock.now()))).map(({ invariant }) => invariant)).toEqual(['I2', 'I2'])
    await node.ledger.tend()
    expect(await heldBy()).toEqual([500, 0, 200])
    await expectFine()
  })

  test('are counted again every ten seconds where something runs, and in every window every ten minutes', async () => {
    const { database, node, spender, expectFine } = await open(engine)
    await node.begin(spender(0, limitOf(1000)), 500)
    await (await node.begin(spender(1, limitOf(1000)), 300)).end(1)
    await node.ledger.tend()
    const heldBy = async (): Promise<readonly number[]> =>
      (await database.kysely.selectFrom('scope_window').select('held_n').orderBy('subject').execute()).map(({ held_n }) => held_n)
    await database.transaction((transaction) => transaction.updateTable('scope_window').set({ held_n: 7 }).execute())
    await node.ledger.tend()
    expect(await heldBy()).toEqual([500, 7])
    for (let round = 2; round <= 60; round += 1) await node.ledger.tend()
    expect(await heldBy()).toEqual([500, 0])
    await expectFine()
  })

  test('leave charges that the audit counts again in every window of a key, a member and a workspace', async () => {
    const { database, clock, node, spender, expectFine, workspaceId } = await open(engine)
    const scopes = (kind: Scope['kind']): Scope => ({
      id: kind,
      kind,
      limitNanos: 10_000,
      interval: kind === 'member' ? 'weekly' : null,
      includeByok: false,
      guardrailId: null,
      budgetId: null,
      allowLastRequest: false,
    })
    const other = openNode(database, clock, { sources: [{ scopes: () => [scopes('member'), scopes('workspace')] }] })
    await (await other.begin(spender(0, limitOf(1000)), 500)).end(40)
    await (await node.begin(spender(1, limitOf(1000)), 500)).end(2)
    await expectFine()
    for (const subject of [`key:${spender(0).keyHash}`, `member:${workspaceId}:user_1`, `workspace:${workspaceId}`]) {
      const change = (by: number) =>
        database.transaction((transaction) =>
          transaction
            .updateTable('scope_window')
            .set((eb) => ({ committed_n: eb('committed_n', '+', by) }))
            .where('subject', '=', subject)
            .execute(),
        )
      await change(7)
      const [breach, ...others] = await auditLedger(database, isoTimestamp(clock.now()))
      const used = subject.startsWith('key:') ? 40 : 42
      expect([breach?.invariant, others]).toEqual(['I3', []])
      expect(breach?.what).toContain(`${subject} `)
      expect(breach?.what).toEndWith(`says it spent ${used + 7} and 0, and its keys used ${used} and 0`)
      await change(-7)
    }
  })

  test.each([true, false])(
    'of requests that ended are gone, and a settlement that is reported twice is one charge; held: %p',
    async (isHeld) => {
      const { database, clock, node, spender, held, ledgerRows, expectFine } = await open(engine)
      const ended = isHeld
        ? (await node.begin(spender(0, limitOf(1000)), 500)).settlement(321)
        : settlementOf(recordOf('gen-1', spender(0), clock.now(), 321))
      const failed = { ...ended.final, amountNanos: 0 }
      const settlement = { ...ended, held: isHeld, final: { ...ended.final, attempt: 1 }, attempts: [failed] }
      await Promise.all([node.settle([settlement, settlement]), node.settle([settlement])])
      await node.settle([settlement])
      expect(await held()).toBe(0)
      expect(await ledgerRows()).toEqual([
        { kind: 'attempt', amount_n: 0, estimated: 0 },
        { kind: 'final', amount_n: 321, estimated: 0 },
      ])
      expect(await database.kysely.selectFrom('usage_hours').select(['requests', 'cost_nanos']).execute()).toEqual([
        { requests: 1, cost_nanos: 321 },
      ])
      await expectFine()
    },
  )
})

describeEachSettler('a hold that grows', (engine) => {
  test('counts with what the others hold, and is released whole', async () => {
    const { node, spender, expectFine, database } = await open(engine)
    const limited = spender(0, limitOf(1000))
    const [first, second] = [await node.begin(limited, 300), await node.begin(limited, 300)]
    await first.grow(700)
    const heldNow = async (): Promise<unknown> =>
      (await database.kysely.selectFrom('scope_window').select('held_n').where('held_n', '>', 0).execute()).map(({ held_n }) => held_n)
    expect(await heldNow()).toEqual([1000])
    await expectFine()
    expect(metadataOf(await rejection(second.grow(301)))).toMatchObject({ status: 402, reason: 'in_flight_budget_exhausted' })
    expect(metadataOf(await rejection(second.grow(1001)))).toMatchObject({
      status: 403,
      reason: 'weight_exceeds_budget',
      limit_source: 'service_key_limit',
    })
    expect(await heldNow()).toEqual([1000])
    await first.end(650)
    expect(await heldNow()).toEqual([300])
    await second.grow(350)
    await second.end(350)
    expect(await heldNow()).toEqual([])
    await expectFine()
  })

  test('of two that grow at once into room for one, one grows', async () => {
    const { node, spender, expectFine } = await open(engine)
    const limited = spender(0, limitOf(1000))
    const running = await Promise.all(Array.from({ length: 4 }, () => node.begin(limited, 100)))
    const outcomes = await Promise.allSettled(running.map((one) => one.grow(500)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expectFine()
  })

  test('cannot grow once it is gone: 503, and nothing is written', async () => {
    const { node, spender, expectFine, held } = await open(engine)
    const running = await node.begin(spender(0, limitOf(1000)), 100)
    await running.end(100)
    expect(metadataOf(await rejection(running.grow(200)))).toMatchObject({ status: 503 })
    expect(await held()).toBe(0)
    await expectFine()
  })
})
