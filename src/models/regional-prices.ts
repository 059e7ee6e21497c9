/** Prices at the addresses of vendors who ask more where a region is guaranteed. */
import type { PriceEntry } from './catalogue-schema.ts'

interface Surcharge {
  readonly hosts: RegExp
  readonly factor: number
  /** In Unix seconds: older models cost the same everywhere. */
  readonly since: number
}

/**
 * developers.openai.com, "Data residency": 10 % for models released on or after March 5, 2026. docs.x.ai, "Regional Endpoints": token usage
 * costs 10 % more.
 */
const SURCHARGES: readonly Surcharge[] = [
  { hosts: /^[a-z]{2}\.api\.openai\.com$/, factor: 1.1, since: Date.UTC(2026, 2, 5) / 1000 },
  { hosts: /^[a-z]{2}\.api\.x\.ai$/, factor: 1.1, since: 0 },
]

const PER_TOKEN = ['prompt', 'completion', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning'] as const
const OTHER_TOKENS = ['audio', 'completion_audio', 'completion_image'] as const

/** The prices of a list at this address. A model of unknown age counts as new. */
export const pricesAt = (prices: PriceEntry, baseUrl: string, created: number | undefined): PriceEntry => {
  const host = URL.parse(baseUrl)?.hostname ?? ''
  const surcharge = SURCHARGES.find(({ hosts }) => hosts.test(host))
  if (surcharge === undefined || (created ?? Number.POSITIVE_INFINITY) < surcharge.since) return prices
  const { factor } = surcharge
  return {
    ...prices,
    ...raised(prices, PER_TOKEN, factor),
    ...raised(prices, OTHER_TOKENS, factor),
    ...(prices.tiers === undefined ? {} : { tiers: prices.tiers.map((tier) => ({ ...tier, ...raised(tier, PER_TOKEN, factor) })) }),
  }
}

const raised = <Name extends string>(prices: Readonly<{ [Each in Name]?: number | undefined }>, names: readonly Name[], factor: number) =>
  Object.fromEntries(
    names.flatMap((name) => {
      const price = prices[name]
      return price === undefined ? [] : [[name, Math.round(price * factor * 1e9) / 1e9]]
    }),
  )
