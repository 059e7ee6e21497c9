/** The changes that a price list makes to the current catalogue. */
import { isSameEndpoint } from './catalogue-imports.ts'
import type { EndpointEntry, ModelEntry, PriceEntry } from './catalogue-schema.ts'

export interface CatalogueChange {
  readonly kind: 'new' | 'changed' | 'gone'
  readonly model: string
  readonly provider: string
  readonly upstreamModel: string
  /** Each fact before and after; undefined on a side that has no value. */
  readonly facts: readonly FactChange[]
}

export interface FactChange {
  readonly fact: string
  readonly before: string | undefined
  readonly after: string | undefined
}

type Models = Readonly<Record<string, ModelEntry>>

/** Ordered by model and provider. */
export const catalogueChanges = (before: Models, after: Models): readonly CatalogueChange[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((model) => {
    const [olds, news] = [before[model]?.endpoints ?? [], after[model]?.endpoints ?? []]
    const changeOf = (old: EndpointEntry | undefined, now: EndpointEntry | undefined): CatalogueChange[] => {
      const { provider, model: upstreamModel } = now ?? old ?? UNREPORTED
      const facts = factChanges(old, now)
      if (facts.length === 0 && old !== undefined && now !== undefined) return []
      return [{ kind: old === undefined ? 'new' : now === undefined ? 'gone' : 'changed', model, provider, upstreamModel, facts }]
    }
    return [
      ...news.flatMap((now) =>
        changeOf(
          olds.find((old) => isSameEndpoint(old, now)),
          now,
        ),
      ),
      ...olds.flatMap((old) => (news.some((now) => isSameEndpoint(old, now)) ? [] : changeOf(old, undefined))),
    ].sort((a, b) => (a.provider < b.provider ? -1 : 1))
  })

const UNREPORTED: EndpointEntry = { provider: '', model: '' }

const factChanges = (before: EndpointEntry | undefined, after: EndpointEntry | undefined): readonly FactChange[] => {
  const [old, now] = [factsOf(before), factsOf(after)]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((fact) =>
    old.get(fact) === now.get(fact) ? [] : [{ fact, before: old.get(fact), after: now.get(fact) }],
  )
}

const factsOf = (endpoint: EndpointEntry | undefined): ReadonlyMap<string, string> => {
  const { prices, context_length, max_completion_tokens } = endpoint ?? UNREPORTED
  return new Map(
    [
      ...(prices === undefined ? [] : priceFacts(prices, '')),
      ...(prices?.tiers ?? []).flatMap((tier) => priceFacts(tier, ` above ${tier.above_prompt_tokens} tokens`)),
      ['context_length', context_length] as const,
      ['max_completion_tokens', max_completion_tokens] as const,
    ].flatMap(([fact, value]) => (value === undefined ? [] : [[fact, String(value)] as const])),
  )
}

const priceFacts = (prices: Omit<PriceEntry, 'tiers'>, suffix: string): (readonly [string, number])[] =>
  Object.entries(prices).flatMap(([fact, price]) =>
    typeof price === 'number' && fact !== 'above_prompt_tokens' ? [[fact + suffix, price] as const] : [],
  )
