/** A hold covers the charge of providers that bill a dearer tier at a multiple of the ordinary price. */
import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { callOf, endpoint, model, planOf } from '../../../test/support/plans.ts'
import { CLIENT_DIALECTS, type Call } from '../../canonical/call.ts'
import { GatewayError } from '../../errors.ts'
import { estimateOf, outgoingNanos } from '../../ledger/estimate.ts'
import { tokenCostNanos } from '../../lib/money.ts'
import { atOnce } from '../../lib/steps.ts'
import { createModels } from '../../models/models.ts'
import type { PriceEntry } from '../../models/catalogue-schema.ts'
import { callAtTier } from '../../routing/call-at-tier.ts'
import type { Plan, PlannedAttempt } from '../../routing/plan-attempts.ts'

const SETTINGS = { maxOutputTokens: 1000, assumedPrices: { prompt: 100, completion: 100 } }
const TAGS = ['a', 'a/priority', 'a/flex', 'b', 'b/priority', 'b/ultrafast', 'c'] as const
const TIERS = ['priority', 'flex', 'ultrafast'] as const
const PROMPT = 5
const OUTPUT = 100
/** The highest price of any vendor's dearer tier, as a multiple of the ordinary price. */
const PREMIUM = 6

const anyModel = (id: string) =>
  fc
    .subarray([...TAGS], { minLength: 1 })
    .chain((tags) =>
      fc.tuple(
        ...tags.map((tag) =>
          fc
            .record({ prompt: fc.integer({ min: 0, max: 9 }), completion: fc.integer({ min: 0, max: 9 }) })
            .map((prices) => endpoint(tag, { prices, serviceTier: TIERS.find((tier) => tag.endsWith(tier)) ?? null })),
        ),
      ),
    )
    .map((endpoints) => model(id, endpoints))

const anyWords = fc.record(
  {
    service_tier: fc.constantFrom('auto', 'default', 'fast', 'flex', 'priority', 'scale', 'ultrafast'),
    speed: fc.constantFrom('fast', 'standard'),
    models: fc.constant(['m/two']),
    provider: fc.record({ order: fc.subarray([...TAGS]) }),
  },
  { requiredKeys: [] },
)

/** The cost at the prices of the catalogue or, if it has none for the tier that the body names, at six times the ordinary ones. */
const billed = ({ model: { endpoints }, endpoint: asked }: PlannedAttempt, { body }: Call): number => {
  const named = [body.value('service_tier'), body.value('speed')].map((word) => (word === 'fast' ? 'priority' : word))
  const costs = named.flatMap((tier) => {
    if (tier !== 'priority' && tier !== 'ultrafast') return []
    const known = endpoints.filter(({ provider, serviceTier }) => provider.slug === asked.provider.slug && serviceTier === tier)
    return known.length > 0 ? known.map(({ prices }) => costAt(prices)) : [PREMIUM * costAt(asked.prices)]
  })
  return Math.max(costAt(asked.prices), ...costs)
}

const costAt = (prices: PriceEntry | null): number =>
  prices === null ? 0 : tokenCostNanos(PROMPT, prices.prompt) + tokenCostNanos(OUTPUT, prices.completion)

test('providers that bill dearer tiers at six times the price charge at most what is held, for any words, models and endpoints', () => {
  fc.assert(
    fc.property(anyModel('m/one'), anyModel('m/two'), fc.constantFrom(...CLIENT_DIALECTS), anyWords, (one, two, dialect, words) => {
      const { speed, ...others } = words
      const limit = dialect === 'responses' ? 'max_output_tokens' : 'max_tokens'
      const fields = { ...others, ...(dialect === 'messages' && speed !== undefined ? { speed } : {}), [limit]: OUTPUT }
      const plan = plannedOrNull(() => planOf(createModels([one, two], []), fields, { dialect }))
      fc.pre(plan !== null)
      const call = callOf(fields, dialect)
      const { mostNanos } = atOnce(estimateOf({ call, apiType: 'completions' }, plan.attempts, SETTINGS))
      for (const planned of plan.attempts) {
        const sent = callAtTier(call, planned, () => undefined)
        expect(billed(planned, sent)).toBeLessThanOrEqual(mostNanos)
        const measured = atOnce(
          outgoingNanos(
            sent.body,
            { dialect: 'openai-chat', apiType: 'completions', clientBody: call.body, model: null },
            planned,
            SETTINGS,
          ),
        )
        expect(billed(planned, sent)).toBeLessThanOrEqual(measured)
        expect(sent.prompt().settings.serviceTier?.value === 'priority').toBe(asksForPriority(sent))
      }
    }),
    { numRuns: 1000 },
  )
})

/** Reads the body, of which the prompt is a translation. */
const asksForPriority = ({ body, dialect }: Call): boolean => {
  const [tier, speed] = [body.value('service_tier'), body.value('speed')]
  if (dialect !== 'messages') return tier === 'priority'
  return tier === undefined || tier === 'auto' ? speed === 'fast' : tier === 'priority' || tier === 'fast'
}

const plannedOrNull = (planning: () => Plan): Plan | null => {
  try {
    return planning()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return null
    throw thrown
  }
}
