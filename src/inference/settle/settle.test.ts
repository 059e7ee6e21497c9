import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { preparedFrom, receivedFrom } from '../../../test/support/pipelines.ts'
import { endpoint, planOf } from '../../../test/support/plans.ts'
import { type Usage, usageOf } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import type { Settlement } from '../../storage/ledger/settle-requests.ts'
import { Admitted } from '../admitted.ts'
import { Hold } from '../admit/hold.ts'
import { Purse } from '../admit/purse.ts'
import { createSettle } from './settle.ts'

interface Attempt {
  readonly usage?: Partial<Usage>
  readonly error?: GatewayError
  readonly isByok?: boolean
}

interface Row {
  readonly attempts?: readonly Attempt[]
  /** The amount held for the request; null if its caller has no budgets. */
  readonly heldNanos?: number | null
  /** The client leaves before the last attempt ends. */
  readonly leaves?: boolean
}

const FAILURE = new GatewayError('provider_unavailable')
/** At one dollar per million tokens read and two per million written, an answer of 23,000 nano-dollars. */
const ANSWERED: Attempt = { usage: { inputFresh: 5, output: 9 } }
const COST = 23_000

/** Settles an answer with the facts of a row; facts that a row omits are those of a good answer. Each attempt lasts a second. */
const settled = async ({ attempts = [ANSWERED], heldNanos = null, leaves = false }: Row = {}) => {
  const clock = createFakeClock()
  const done: unknown[] = []
  const lines: string[] = []
  const prepared = await preparedFrom(clock, receivedFrom({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }] }))
  const plan = planOf(['a', 'b'].map((tag) => endpoint(tag, { prices: { prompt: 1, completion: 2, cache_read: 0.1 } })))
  const [first] = plan.attempts
  if (first === undefined) throw new Error('not planned')
  const permit = { handOver: () => undefined, end: (tokens: number) => done.push(['permit', tokens]) }
  const planned = { ...prepared, permit, plan, tools: null, search: null }
  const demand = {
    id: 'gen-1',
    spender: planned.caller,
    atMs: 0,
    scopes: [],
    estimateNanos: heldNanos ?? 0,
    promptNanos: 0,
    provider: null,
    expectedMs: 0,
  }
  const purse = new Purse(demand, { grow: () => Promise.reject(new Error('Nothing is sent here.')) })
  const hold = new Hold(planned, purse, 0, { assumedPrices: { prompt: 1, completion: 1 }, maxOutputTokens: 100 })
  const admitted = new Admitted(
    planned,
    { generationId: 'gen-1', createdMs: clock.now(), startedMs: clock.monotonicMs() },
    { hold: heldNanos === null ? null : hold, assumedPrices: null, emptyIsFree: false, ownKeysOnly: false, refusesUnpriced: false },
    clock,
  )
  for (const [index, { usage, error, isByok = false }] of attempts.entries()) {
    admitted.log.begin({ planned: first, credential: { apiKey: null, index: 0, isByok, rests: false } })
    clock.advance(1000)
    if (usage !== undefined) admitted.log.observe([{ events: [{ type: 'usage', usage: usageOf(usage) }] }])
    if (leaves && index === attempts.length - 1) admitted.log.leave()
    if (error !== undefined) admitted.log.fail(error)
    else {
      admitted.log.observe([{ events: [{ type: 'finish', reason: 'stop', native: null }] }])
      admitted.log.succeed()
    }
  }
  const settle = createSettle({
    ledger: { ended: (id) => done.push(['ledger', id]) },
    durations: { add: (model, durationMs) => done.push(['duration', model, durationMs]) },
    recorder: { add: (line) => lines.push(line) },
    running: { ended: (run) => done.push(['running', run === admitted.connection]) },
    sticky: { find: () => null, remember: (_, key) => done.push(['route', key]) },
    observe: ({ generationId }) => done.push(['observed', generationId]),
    onOvershoot: (id, nanos) => done.push(['overshoot', id, nanos]),
  })
  settle(admitted.end())
  expect(lines).toHaveLength(1)
  return { done, settlement: JSON.parse(lines[0] ?? '') as Settlement }
}

const named = (done: readonly unknown[], name: string): unknown[] => done.filter((each) => Array.isArray(each) && each[0] === name)

test('an answer ends its permit with its tokens, runs no longer, and is recorded and observed', async () => {
  const { done, settlement } = await settled()
  expect(done).toEqual([
    ['permit', 14],
    ['running', true],
    ['duration', 'm/one', 1000],
    ['observed', 'gen-1'],
  ])
  expect(settlement).toMatchObject({
    record: { id: 'gen-1', costNanos: COST },
    userId: 'user_1',
    held: false,
    final: { attempt: 0, provider: 'a', amountNanos: COST, byokNanos: 0, upstreamNanos: COST, estimated: false },
    attempts: [],
  })
})

test('an answer that used a cache binds its conversation to the endpoint', async () => {
  const { done } = await settled({ attempts: [{ usage: { inputFresh: 5, inputCacheRead: 9, output: 9 } }] })
  expect(named(done, 'route')).toEqual([['route', 'm/one a']])
})

test('the recorded usage names only what was counted, and the record only what is there', async () => {
  const { settlement } = await settled()
  expect(JSON.parse(settlement.final.usage)).toEqual({ inputFresh: 5, output: 9 })
  expect(Object.values(settlement.record.record)).not.toContain(null)
})

test('an answer without an attempt has cost no provider anything', async () => {
  const { settlement } = await settled({ attempts: [] })
  expect(settlement.final).toMatchObject({ attempt: 0, provider: null, amountNanos: 0, upstreamNanos: null })
})

describe('under a budget', () => {
  test('the ledger learns that the request has ended, and the settlement that it had a hold', async () => {
    const { done, settlement } = await settled({ heldNanos: COST })
    expect([named(done, 'ledger'), settlement.held]).toEqual([[['ledger', 'gen-1']], true])
  })

  test('what an answer cost beyond its hold is reported, whoever pays it', async () => {
    const over = async (row: Row) => named((await settled(row)).done, 'overshoot')
    expect(await over({ heldNanos: COST })).toEqual([])
    expect(await over({ heldNanos: COST - 1 })).toEqual([['overshoot', 'gen-1', 1]])
    expect(await over({ heldNanos: COST - 1, attempts: [{ ...ANSWERED, isByok: true }] })).toEqual([['overshoot', 'gen-1', 1]])
    expect(await over({ heldNanos: null })).toEqual([])
  })
})

test('only an answer that a provider gave to its end says how long a model takes', async () => {
  const lasted = async (row: Row) => named((await settled(row)).done, 'duration')
  expect(await lasted({ attempts: [{ error: FAILURE }, ANSWERED] })).toEqual([['duration', 'm/one', 2000]])
  expect(await lasted({ attempts: [{ error: FAILURE }] })).toEqual([])
  expect(await lasted({ leaves: true })).toEqual([])
  expect(await lasted({ attempts: [] })).toEqual([])
})

describe('an attempt that failed before the answer', () => {
  test('has a row with what it may have cost the operator, and costs the customer nothing', async () => {
    const { settlement } = await settled({ attempts: [{ usage: { inputFresh: 2, output: 2 }, error: FAILURE }, ANSWERED] })
    expect(settlement.attempts).toEqual([
      {
        attempt: 0,
        provider: 'a',
        amountNanos: 0,
        byokNanos: 0,
        upstreamNanos: 6000,
        estimated: false,
        usage: '{"inputFresh":2,"output":2}',
      },
    ])
    expect(settlement.final).toMatchObject({ attempt: 1, amountNanos: COST })
  })

  test('has no row if it used no token', async () => {
    const { settlement } = await settled({ attempts: [{ error: FAILURE }, ANSWERED] })
    expect([settlement.attempts, settlement.final.attempt]).toEqual([[], 1])
  })

  test('is told from an earlier turn of the answer, which is in the bill already', async () => {
    const { settlement } = await settled({ attempts: [ANSWERED, ANSWERED] })
    expect([settlement.attempts, settlement.final.attempt]).toEqual([[], 1])
  })

  test('has no row of its own if it is the last: its row is that of the request', async () => {
    const { settlement } = await settled({ attempts: [{ ...ANSWERED, error: FAILURE }] })
    expect([settlement.attempts, settlement.final.attempt]).toEqual([[], 0])
  })
})
