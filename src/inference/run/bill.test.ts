import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { callOf, endpoint, model } from '../../../test/support/plans.ts'
import { usageOf, type Usage } from '../../canonical/usage.ts'
import { GatewayError } from '../../errors.ts'
import type { PriceEntry } from '../../models/catalogue-schema.ts'
import { billOf, type BillTerms } from './bill.ts'

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
  readonly prices?: PriceEntry | null
  readonly terms?: Partial<BillTerms>
}

/** The bill of an answer with the facts of a row; facts that a row omits are those of a good answer. */
const billed = (row: Row) => {
  const { reported = null, characters = 0, uncounted = 0, finished = true, error = null, fields = {}, prices = PRICES } = row
  const asked = endpoint('a', { prices })
  const priority = endpoint('a/priority', { prices: { prompt: 3, completion: 6 }, serviceTier: 'priority' })
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
              planned: { model: model('m/one', [asked, priority]), endpoint: asked },
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
    ['of a failure that said nothing is none', { finished: false, error: FAILURE }, {}],
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
