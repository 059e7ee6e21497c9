import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { callOf, endpoint, model } from '../../../test/support/plans.ts'
import { NO_COST } from '../../canonical/cost.ts'
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import type { PriceEntry } from '../../models/catalogue-schema.ts'
import type { ModelEndpoint } from '../../models/model.ts'
import { type Bill, billOf, type BillTerms, joinedBills, withFees, withInner } from './bill.ts'

const PRICES: PriceEntry = { prompt: 1, completion: 2 }
const ASSUMED: PriceEntry = { prompt: 10, completion: 20 }
const FAILURE = new GatewayError('provider_unavailable')
/** The estimated tokens of the prompt in every row. */
const PROMPT = 100

interface Row {
  readonly reported?: Partial<Usage> | null
  readonly characters?: number
  readonly uncounted?: number
  readonly finished?: boolean
  readonly error?: GatewayError
  readonly cancelled?: boolean
  readonly abandoned?: boolean
  readonly running?: boolean
  readonly fields?: Readonly<Record<string, unknown>>
  readonly apiType?: 'completions' | 'embeddings'
  /** No provider was asked. */
  readonly unasked?: boolean
  readonly isByok?: boolean
  readonly provider?: string
  /** The tier of the endpoint that was asked. */
  readonly tier?: 'flex'
  /** The model has no endpoint with a faster tier. */
  readonly alone?: boolean
  readonly prices?: PriceEntry | null
  readonly pricesFrom?: ModelEndpoint['pricesFrom']
  readonly terms?: Partial<BillTerms>
}

/** The bill of an answer with the facts of a row; facts that a row omits are those of a good answer. */
const billed = (row: Row) => {
  const { reported = null, characters = 0, uncounted = 0, finished = true, error = null, fields = {}, prices = PRICES } = row
  const { provider = 'a' } = row
  const asked = endpoint(provider, {
    prices,
    serviceTier: row.tier ?? null,
    ...(row.pricesFrom === undefined ? {} : { pricesFrom: row.pricesFrom }),
  })
  const priority = endpoint(`${provider}/priority`, { prices: { prompt: 3, completion: 6 }, serviceTier: 'priority' })
  return billOf(
    {
      request: { call: callOf(fields), apiType: row.apiType ?? 'completions' },
      said: {
        reportedUsage: reported === null ? null : usageOf(reported),
        characters,
        uncountedCharacters: uncounted,
        finishReason: finished ? 'stop' : null,
      },
      inputTokensEstimate: PROMPT,
      current:
        row.unasked === true
          ? undefined
          : {
              planned: { model: model('m/one', row.alone === true ? [asked] : [asked, priority]), endpoint: asked },
              credential: { isByok: row.isByok === true },
            },
      error,
      cancelled: row.cancelled === true,
      abandoned: row.abandoned === true,
      ended: row.running !== true,
    },
    { assumedPrices: null, emptyIsFree: false, ...row.terms },
  )
}

describe('usage', () => {
  test.each<[string, Row, Partial<Usage>]>([
    ['is what the provider told', { reported: { inputFresh: 5, output: 9 }, characters: 4 }, { inputFresh: 5, output: 9 }],
    ['that nobody told is estimated', { characters: 9 }, { inputFresh: PROMPT, output: 3, estimated: true }],
    [
      'of one answer of three that nobody told is three times that',
      { characters: 8, fields: { n: 3 } },
      { inputFresh: PROMPT, output: 6, estimated: true },
    ],
    ['without output is estimated there', { reported: { inputFresh: 5 }, characters: 8 }, { inputFresh: 5, output: 2, estimated: true }],
    ['without input is estimated there', { reported: { output: 9 }, characters: 8 }, { inputFresh: PROMPT, output: 9, estimated: true }],
    [
      'whose output cannot be is at least what was said',
      { reported: { inputFresh: 5, output: 1, unreportedOutput: true }, characters: 8 },
      { inputFresh: 5, output: 2, estimated: true },
    ],
    [
      'whose input cannot be is at least the prompt',
      { reported: { inputFresh: 5, output: 1, unreportedInput: true }, characters: 4 },
      { inputFresh: PROMPT, output: 1, estimated: true },
    ],
    [
      'of an answer that was cut behind its last count covers all that was said',
      { reported: { inputFresh: 5, output: 1 }, characters: 16, uncounted: 12, finished: false, error: FAILURE },
      { inputFresh: 5, output: 4, estimated: true },
    ],
    [
      'of an answer that was cut right at its last count is that count',
      { reported: { inputFresh: 5, output: 1 }, characters: 16, finished: false, error: FAILURE },
      { inputFresh: 5, output: 1 },
    ],
    [
      'of an answer that was cut one character behind its last count covers all that was said',
      { reported: { inputFresh: 5, output: 1 }, characters: 16, uncounted: 1, finished: false, error: FAILURE },
      { inputFresh: 5, output: 4, estimated: true },
    ],
    [
      'of an answer that came to its end is its last count, whatever came behind it',
      { reported: { inputFresh: 5, output: 1 }, characters: 16, uncounted: 12 },
      { inputFresh: 5, output: 1 },
    ],
    ['of one character that nobody counted is a token', { characters: 1 }, { inputFresh: PROMPT, output: 1, estimated: true }],
    [
      'that names only an output which nobody saw has the prompt too',
      { reported: { output: 1 } },
      { inputFresh: PROMPT, output: 1, estimated: true },
    ],
    [
      'of an answer that ended without a word, and whose input cannot be, is the prompt',
      { reported: { inputFresh: 5, unreportedInput: true } },
      { inputFresh: PROMPT, estimated: true },
    ],
    [
      'of an answer that was cut, and whose input cannot be, is at least the prompt',
      { reported: { inputFresh: 5, output: 1, unreportedInput: true }, characters: 4, finished: false, error: FAILURE },
      { inputFresh: PROMPT, output: 1, estimated: true },
    ],
    [
      'of a failure that said nothing is what was counted, even if that cannot be all',
      { reported: { inputFresh: 5, unreportedInput: true }, finished: false, error: FAILURE },
      { inputFresh: 5, unreportedInput: true },
    ],
    ['of a failure that said nothing is none', { finished: false, error: FAILURE }, {}],
    ['of a failure that was counted as nothing is none', { reported: {}, finished: false, error: FAILURE }, {}],
    ['of vectors that failed is none', { apiType: 'embeddings', finished: false, error: FAILURE }, {}],
    [
      'of a client that left behind a count is that count',
      { reported: { inputFresh: 5, output: 5 }, characters: 8, finished: false, cancelled: true, abandoned: true },
      { inputFresh: 5, output: 5 },
    ],
    [
      'of a client that left while a provider was at work is the prompt',
      { finished: false, cancelled: true, abandoned: true },
      { inputFresh: PROMPT, estimated: true },
    ],
    ['of a client that left before that is none', { finished: false, cancelled: true }, {}],
    ['of vectors has no output', { reported: { inputFresh: 7 }, apiType: 'embeddings', finished: false }, { inputFresh: 7 }],
    [
      'of vectors that are told to have taken no tokens is the prompt',
      { reported: {}, apiType: 'embeddings', finished: false },
      { inputFresh: PROMPT, estimated: true },
    ],
    [
      'of vectors that were not counted is the prompt',
      { reported: { unreportedInput: true }, apiType: 'embeddings', finished: false },
      { inputFresh: PROMPT, estimated: true },
    ],
  ])('%s', (_, row, expected) => {
    expect(billed(row).usage).toEqual(usageOf(expected))
  })
})

describe('cost', () => {
  const reported = { inputFresh: 10, output: 20 }
  const unknown = { reported, prices: null, terms: { assumedPrices: ASSUMED } }

  test.each<[string, Row, number | null, boolean?]>([
    ['is that of the usage at the prices of the endpoint', { reported }, 50_000],
    ['is unknown where no price is', { reported, prices: null }, null],
    ['is what the provider reports where no price is known', { reported: { ...reported, reportedCostNanos: 7 }, prices: null }, 7],
    ['is counted at the assumed prices where a budget needs one', unknown, 500_000, true],
    ['that the provider reports is not assumed', { ...unknown, reported: { ...reported, reportedCostNanos: 7 } }, 7],
    ['of an endpoint with prices is not assumed', { ...unknown, prices: PRICES }, 50_000],
    ['is that of the tier which the answer names', { reported: { ...reported, servedTier: 'priority' } }, 150_000],
    ['is that of the speed which was asked for, where the answer names none', { reported, fields: { speed: 'fast' } }, 150_000],
    [
      'is that of the ordinary tier where the answer says so',
      { reported: { ...reported, servedTier: 'default' }, fields: { speed: 'fast' } },
      50_000,
    ],
    [
      'has the price of each picture of the prompt',
      {
        reported,
        prices: { ...PRICES, image: 0.001 },
        fields: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://pictures.example/1.png' } }] }] },
      },
      1_050_000,
    ],
    [
      'is that of the speed which was asked for, where the answer names only a capacity',
      { reported: { ...reported, servedTier: 'standard' }, fields: { speed: 'fast' } },
      150_000,
    ],
    ['of an answer without a token is the price of the request', { prices: { ...PRICES, request: 0.001 } }, 1_000_000],
    [
      'of a failure is that of all that the provider counted',
      { reported: { inputFresh: 10, output: 10 }, finished: false, error: FAILURE },
      30_000,
    ],
    ['of a customer’s own key is none of ours', { reported, isByok: true }, 0],
    ['is none where nobody was asked', { reported, unasked: true }, 0],
    ['of a failure before anything was used is none', { finished: false, error: FAILURE, prices: { ...PRICES, request: 1 } }, 0],
    ['of a failure before anything was used is none where no price is known', { finished: false, error: FAILURE, prices: null }, 0],
    [
      'of a failure is that of the prompt which the provider counted',
      { reported: { inputFresh: 10 }, finished: false, error: FAILURE },
      10_000,
    ],
    ['of an empty answer is what was counted', { reported: { inputFresh: 10 }, finished: false }, 10_000],
  ])('%s', (_, row, nanos, assumed = false) => {
    const { cost, costIsAssumed } = billed(row)
    expect([cost.isKnown ? cost.totalNanos : null, costIsAssumed]).toEqual([nanos, assumed])
  })

  test.each<[string, boolean, Row]>([
    ['that failed', true, { error: FAILURE, finished: false }],
    ['that failed at its end', true, { error: FAILURE }],
    ['that ended without a reason', true, { finished: false }],
    ['that ended with a reason', false, {}],
    ['that a client left', false, { finished: false, cancelled: true, abandoned: true }],
    ['that goes on', false, { finished: false, running: true }],
    ['that said something', false, { finished: false, characters: 8 }],
    ['of vectors', false, { finished: false, apiType: 'embeddings' }],
  ])('where empty answers are free, an answer %s is free: %p', (_, expected, row) => {
    const { cost } = billed({ reported: { inputFresh: 10 }, ...row, terms: { emptyIsFree: true } })
    expect(cost.totalNanos === 0).toBe(expected)
  })

  test('is shown in full to the customer whose key was used', () => {
    expect(billed({ reported, isByok: true }).cost).toMatchObject({ totalNanos: 0, upstreamNanos: 50_000, isByok: true })
  })
})

describe('the charge that a vendor reports', () => {
  const charged = (row: Row, nanos = 7) =>
    billed({ reported: { inputFresh: 10, output: 20, reportedCostNanos: nanos }, provider: 'openrouter', ...row }).cost.totalNanos

  test('is the cost if the word of the vendor is exact', () => {
    expect([charged({}), charged({}, 1), charged({ provider: 'a' })]).toEqual([7, 1, 50_000])
  })

  test('is not the cost if it is nothing, or if we had to estimate, or if the operator set the prices', () => {
    expect(charged({}, 0)).toBe(50_000)
    expect(charged({ reported: { inputFresh: 10, reportedCostNanos: 7 }, characters: 80 })).toBe(50_000)
    expect(charged({ pricesFrom: { from: 'operator', asOf: null } })).toBe(50_000)
    expect(charged({ reported: { inputFresh: 10, output: 20 } })).toBe(50_000)
  })
})

describe('the tier in the usage', () => {
  const FAST: Row = { fields: { speed: 'fast' } }
  const tierOf = (servedTier: string | null, row: Row = {}) => billed({ reported: { inputFresh: 10, servedTier }, ...row }).usage.servedTier

  test('has our name for it, and that of the speed which was asked for if the answer names none', () => {
    expect([tierOf('on_demand_priority'), tierOf('standard'), tierOf(null)]).toEqual(['priority', 'default', null])
    expect([tierOf(null, FAST), tierOf('standard', FAST), tierOf('standard', { ...FAST, alone: true })]).toEqual([
      'priority',
      'priority',
      'default',
    ])
  })

  test('is that of the endpoint which was asked if the answer names none, and the word of the answer if it is not ours', () => {
    expect([tierOf(null, { tier: 'flex' }), tierOf('Batch', { tier: 'flex' })]).toEqual(['flex', 'batch'])
  })

  test('is none if nothing was used', () => {
    expect(billed({ finished: false, error: FAILURE, ...FAST }).usage.servedTier).toBeNull()
  })
})

describe('the bill of an answer of several parts', () => {
  const bill = (totalNanos: number, more: Partial<Bill> = {}): Bill => ({
    usage: usageOf({ inputFresh: totalNanos }),
    cost: { ...NO_COST, totalNanos, upstreamNanos: totalNanos },
    costIsAssumed: false,
    ...more,
  })

  test('adds up its turns, and is assumed if one of them is', () => {
    expect(joinedBills(bill(1), bill(2))).toEqual(bill(3))
    expect(joinedBills(bill(1, { costIsAssumed: true }), bill(2)).costIsAssumed).toBe(true)
    expect(joinedBills(bill(1), bill(2, { costIsAssumed: true })).costIsAssumed).toBe(true)
  })

  test('adds the fees of tools to what the key is charged, and to nothing else', () => {
    const once = { ...bill(5), cost: { ...bill(5).cost, totalNanos: 7, serverToolNanos: 2 } }
    expect(withFees(bill(5), 2)).toEqual(once)
    expect(withFees(once, 3)).toEqual({ ...once, cost: { ...once.cost, totalNanos: 10, serverToolNanos: 5 } })
  })

  test('adds the cost of another model like a fee, and what the customer pays for it to what the customer pays', () => {
    const { cost, ...rest } = withInner(bill(5, { cost: { ...NO_COST, totalNanos: 5, customersNanos: 3 } }), {
      ...NO_COST,
      totalNanos: 2,
      customersNanos: 4,
    })
    expect(rest).toEqual({ usage: bill(5).usage, costIsAssumed: false })
    expect(cost).toEqual({ ...NO_COST, totalNanos: 7, serverToolNanos: 2, customersNanos: 7 })
  })

  test('is known only if the cost of each part is', () => {
    const unknown = { ...NO_COST, isKnown: false }
    expect(withInner(bill(5), unknown).cost.isKnown).toBe(false)
    expect(withInner(bill(5, { cost: unknown }), NO_COST).cost.isKnown).toBe(false)
    expect(withInner(bill(5), NO_COST).cost.isKnown).toBe(true)
  })
})

test('whatever happened: the same facts make the same bill, no cost is negative, and what nobody used nobody pays', () => {
  const count = fc.nat(1_000_000)
  const reported = fc.option(
    fc.record({
      inputFresh: count,
      inputCacheRead: count,
      output: count,
      outputReasoning: count,
      unreportedInput: fc.boolean(),
      unreportedOutput: fc.boolean(),
    }),
  )
  const facts = fc.record({
    reported,
    characters: count,
    uncounted: count,
    finished: fc.boolean(),
    error: fc.constantFrom(undefined, FAILURE),
    cancelled: fc.boolean(),
    abandoned: fc.boolean(),
    running: fc.boolean(),
    apiType: fc.constantFrom('completions' as const, 'embeddings' as const),
    isByok: fc.boolean(),
    prices: fc.constantFrom(PRICES, null),
    terms: fc.record({ assumedPrices: fc.constantFrom(ASSUMED, null), emptyIsFree: fc.boolean() }),
  })
  fc.assert(
    fc.property(facts, ({ error, ...rest }) => {
      const row: Row = error === undefined ? rest : { ...rest, error }
      const bill = billed(row)
      expect(billed(row)).toEqual(bill)
      expect(bill.cost.totalNanos).toBeGreaterThanOrEqual(0)
      if (row.isByok === true) expect(bill.cost.totalNanos).toBe(0)
      if (row.reported === null && row.characters === 0 && row.abandoned !== true) {
        expect(bill.usage).toEqual(usageOf({}))
        expect(bill.cost.totalNanos).toBe(0)
      }
    }),
  )
})
