import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createFakeIds } from '../../../test/support/fake-ids.ts'
import { preparedFrom, receivedFrom } from '../../../test/support/pipelines.ts'
import { endpoint, planOf, priced } from '../../../test/support/plans.ts'
import { GatewayError } from '../../errors.ts'
import type { Demand } from '../../ledger/admissions.ts'
import type { Scope } from '../../ledger/scope.ts'
import { admitFree, admitWithin, type BudgetSettings, createAdmit } from './admit.ts'
import type { Admitted } from '../admitted.ts'
import type { Planned } from '../request.ts'

const scope = (id: string, includeByok: boolean): Scope => ({
  id,
  kind: 'key_limit',
  limitNanos: 1,
  interval: null,
  includeByok,
  guardrailId: null,
  budgetId: null,
  allowLastRequest: false,
})

const BOTH = [scope('with', true), scope('without', false)]
const ASSUMED = { prompt: 1, completion: 1 }

interface Row {
  /** How each admission by the ledger ends; null admits. */
  readonly outcomes?: readonly (GatewayError | null)[]
  readonly scopes?: readonly Scope[] | Promise<never>
  readonly settings?: Partial<BudgetSettings>
  readonly planned?: Partial<Pick<Planned, 'tools' | 'search'>>
  readonly served?: ReturnType<typeof endpoint>
}

/** A request whose attempts have the given keys, under one scope that counts customers' keys and one that does not. */
const admitted = async (keys: readonly ('own' | 'shared')[], row: Row = {}) => {
  const { outcomes = [], scopes = BOTH, served = priced('p', 10) } = row
  const clock = createFakeClock()
  clock.advance(0.5)
  const demands: Demand[] = []
  const costs: (() => number)[] = []
  const { attempts, ...rest } = planOf([served])
  const plan = {
    ...rest,
    attempts: attempts.flatMap((planned) =>
      keys.map((kind) => (kind === 'own' ? { ...planned, customerKey: { id: 'c', apiKey: 'sk', isFallback: false } } : planned)),
    ),
  }
  const received = receivedFrom({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 })
  const planned = { ...(await preparedFrom(clock, received)), plan, tools: null, search: null, ...row.planned }
  const admit = createAdmit({
    clock,
    ids: createFakeIds(),
    turn: () => undefined,
    ledger: {
      scopesOf: () => scopes,
      async admit(demand, costNanos) {
        demands.push(demand)
        costs.push(costNanos)
        expect(costNanos()).toBe(0)
        const refused = outcomes[demands.length - 1] ?? null
        if (refused !== null) throw refused
      },
      grow: () => Promise.reject(new Error('Nothing is sent here.')),
    },
    durations: { expectedMs: (model) => (model === 'm/one' ? 1000 : 0) },
    settings: () => ({ unknownPrice: 'refuse', assumedPrices: ASSUMED, emptyAnswers: 'told', maxOutputTokens: 100, ...row.settings }),
  })
  try {
    const run = await admit(planned)
    return { clock, demands, costs, run, refusal: null, own: keysOf(run), planned }
  } catch (refusal) {
    return { clock, demands, costs, run: null, refusal, own: [], planned }
  }
}

const keysOf = ({ request }: Admitted) => request.plan.attempts.map(({ customerKey }) => (customerKey === undefined ? 'shared' : 'own'))

/** The request of an admission that must not fail. */
const runOf = ({ run }: Awaited<ReturnType<typeof admitted>>) => {
  if (run === null) throw new Error('refused')
  return run
}

const scopesOf = (demands: readonly Demand[]): string[] => demands.map(({ scopes }) => scopes.map(({ id }) => id).join(' '))

const unasked = (): never => {
  throw new Error('Nothing is sent here.')
}

const TOO_MUCH = new GatewayError('payment_required')

describe('a customer’s own key', () => {
  test('goes alone where the budgets do not bear the service’s, also in what the answer asks besides', async () => {
    for (const refused of [TOO_MUCH, new GatewayError('permission_denied')]) {
      const { demands, own, run } = await admitted(['own', 'shared'], { outcomes: [refused, null] })
      expect([scopesOf(demands), own, run?.terms.ownKeysOnly]).toEqual([['with without', 'with'], ['own'], true])
    }
  })

  test('goes together with the service’s where the budgets bear them', async () => {
    const { demands, own, run } = await admitted(['own', 'shared'])
    expect([scopesOf(demands), own, run?.terms.ownKeysOnly]).toEqual([['with without'], ['own', 'shared'], false])
  })

  test('that is the only one asks only the budgets that count it, and none if none does', async () => {
    const counted = await admitted(['own'])
    expect([scopesOf(counted.demands), counted.run?.terms.ownKeysOnly]).toEqual([['with'], true])
    const uncounted = await admitted(['own'], { scopes: [scope('without', false)] })
    expect([uncounted.demands, uncounted.run?.hold, uncounted.run?.terms.ownKeysOnly]).toEqual([[], null, true])
    const all = await admitted(['own'], { scopes: [scope('with', true)] })
    expect([scopesOf(all.demands), all.run?.terms.ownKeysOnly]).toEqual([['with'], false])
  })

  test('is refused where the budgets that count it refuse it', async () => {
    expect((await admitted(['own', 'shared'], { outcomes: [TOO_MUCH, TOO_MUCH] })).refusal).toBe(TOO_MUCH)
  })

  test('is not tried where there is none', async () => {
    const { demands, refusal } = await admitted(['shared'], { outcomes: [TOO_MUCH] })
    expect([scopesOf(demands), refusal]).toEqual([['with without'], TOO_MUCH])
  })
})

test('503, and not free: a request whose budgets cannot be read', async () => {
  const { demands, refusal } = await admitted(['shared'], { scopes: Promise.reject(new Error('away')) })
  expect([demands, refusal]).toEqual([[], expect.objectContaining({ type: 'provider_overloaded', status: 503, retryAfterSeconds: 1 })])
})

test('storage that is away is no refusal: the hold may have been written, so its id is not used for another', async () => {
  const away = new GatewayError('provider_overloaded', 'away', { status: 503 })
  const { demands, refusal } = await admitted(['own', 'shared'], { outcomes: [away, null] })
  expect([refusal, demands.length]).toEqual([away, 1])
})

test('a process that dies charges the prompt to the service’s own key, and nothing where the customer’s is asked first', async () => {
  const charged = async (keys: readonly ('own' | 'shared')[]) => (await admitted(keys)).demands.map(({ promptNanos }) => promptNanos > 0)
  expect(await charged(['shared', 'own'])).toEqual([true])
  expect(await charged(['own', 'shared'])).toEqual([false])
  expect(await charged(['own'])).toEqual([false])
})

describe('what the ledger is asked', () => {
  test('names the request as it is recorded, its caller, and how long its model usually takes', async () => {
    const found = await admitted(['shared'])
    const run = runOf(found)
    expect(found.demands).toMatchObject([
      { id: run.generationId, spender: run.request.caller, atMs: run.createdMs, provider: 'p', expectedMs: 1000 },
    ])
    expect([run.createdMs, run.generationId]).toEqual([found.clock.now(), expect.stringMatching(/^gen-\d+[^.]*$/)])
    expect(run.hold?.heldNanos).toBe(found.demands[0]?.estimateNanos ?? Number.NaN)
  })

  test('covers three turns where tools run, and the search before the answer', async () => {
    const estimate = async (planned: NonNullable<Row['planned']>) =>
      (await admitted(['shared'], { planned })).demands[0]?.estimateNanos ?? 0
    const plain = await estimate({})
    expect(plain).toBeGreaterThan(0)
    expect(await estimate({ tools: { byName: new Map(), promptFor: unasked } })).toBe(plain * 3)
    const search = { most: 1, characters: 1, allowed: [], excluded: [], place: null, mode: null }
    const asked = { engines: { search: unasked, dearestNanos: 5 }, search, maxTotalResults: 1, maxUses: 1 }
    expect(await estimate({ search: { type: 'ours', asked, query: 'q', prompt: null } })).toBe(plain + 5)
  })

  test('learns the cost of the answer while it runs', async () => {
    const found = await admitted(['shared'])
    runOf(found).charge(7)
    expect(found.costs[0]?.()).toBe(7)
  })
})

describe('the terms of a request', () => {
  test('without budgets ask no ledger and assume no price', async () => {
    const { demands, run } = await admitted(['shared'], { scopes: [], served: endpoint('p') })
    expect(demands).toEqual([])
    expect(run?.terms).toEqual({ hold: null, assumedPrices: null, emptyIsFree: false, ownKeysOnly: false, refusesUnpriced: false })
  })

  test('with budgets refuse a model without a price, or assume one', async () => {
    const served = endpoint('p')
    const { refusal, demands } = await admitted(['shared'], { served })
    expect(refusal).toMatchObject({ type: 'permission_denied', metadata: { reason: 'unknown_price', model: 'm/one' } })
    expect(demands).toEqual([])
    const { run } = await admitted(['shared'], { served, settings: { unknownPrice: 'default' } })
    expect(run?.terms).toMatchObject({ assumedPrices: ASSUMED, refusesUnpriced: false })
    expect((await admitted(['shared'])).run?.terms).toMatchObject({ refusesUnpriced: true, ownKeysOnly: false })
  })

  test('make empty answers free if the operator says so, with budgets or without', async () => {
    for (const scopes of [[], BOTH]) {
      const { run } = await admitted(['shared'], { scopes, settings: { emptyAnswers: 'free' } })
      expect([run?.terms.emptyIsFree, (await admitted(['shared'], { scopes })).run?.terms.emptyIsFree]).toEqual([true, false])
    }
  })

  test('of an answer without a provider are those of one that costs nothing', async () => {
    const { planned, clock } = await admitted(['shared'])
    const free = admitFree(planned, clock, createFakeIds())
    expect(free.terms).toEqual({ hold: null, assumedPrices: null, emptyIsFree: true, ownKeysOnly: false, refusesUnpriced: false })
    expect([free.createdMs, free.log.startedMs]).toEqual([clock.now(), clock.monotonicMs()])
  })
})

describe('an inference within another', () => {
  test('uses the service’s keys only if the outer one may', async () => {
    const alone = await admitted(['own', 'shared'], { outcomes: [TOO_MUCH, null] })
    const inner = admitWithin(runOf(alone), alone.planned, alone.clock)
    expect(keysOf(inner)).toEqual(['own'])
    const shared = (await admitted(['shared'])).planned
    expect(() => admitWithin(runOf(alone), shared, alone.clock)).toThrow('only your own provider keys')
    const both = await admitted(['own', 'shared'])
    expect(admitWithin(runOf(both), shared, both.clock).request.plan.attempts).toHaveLength(1)
  })

  test('asks no endpoint without a price if the outer one may not', async () => {
    const outer = await admitted(['shared'])
    const unpriced = (await admitted(['shared'], { scopes: [], served: endpoint('p') })).planned
    expect(() => admitWithin(runOf(outer), unpriced, outer.clock)).toThrow('No price is configured')
    const assuming = await admitted(['shared'], { settings: { unknownPrice: 'default' } })
    expect(admitWithin(runOf(assuming), unpriced, assuming.clock).terms.assumedPrices).toEqual(ASSUMED)
  })

  test('is part of the outer one: its id, its hold, and its cost', async () => {
    const outer = await admitted(['shared'])
    const run = runOf(outer)
    const inner = admitWithin(run, outer.planned, outer.clock)
    inner.charge(7)
    expect([inner.generationId, run.bill.cost.totalNanos]).toEqual([run.generationId, 7])
    expect(inner.hold?.heldNanos).toBe(run.hold?.heldNanos ?? Number.NaN)
    expect(inner.hold).not.toBe(run.hold)
  })
})
