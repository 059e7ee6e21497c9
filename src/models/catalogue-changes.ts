/** The changes that a price list makes to the current catalogue. */
import { isSameEndpoint } from './catalogue-imports.ts'
import type { EndpointEntry, ModelEntry, PriceEntry } from './catalogue-schema.ts'

export interface CatalogueChange {
  readonly kind: 'new' | 'changed' | 'gone'
  readonly model: string
  readonly provider: string
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
    const olds = before[model]?.endpoints ?? []
    const news = after[model]?.endpoints ?? []
    const change = (kind: CatalogueChange['kind'], endpoint: EndpointEntry, facts: readonly FactChange[]): CatalogueChange => ({
      kind,
      model,
      provider: endpoint.provider,
      facts,
    })
    return [
      ...news.flatMap((now) => {
        const old = olds.find((one) => isSameEndpoint(one, now))
        const facts = factChanges(old, now)
        if (old === undefined) return change('new', now, facts)
        return facts.length === 0 ? [] : change('changed', now, facts)
      }),
      ...olds.filter((old) => !news.some((now) => isSameEndpoint(old, now))).map((old) => change('gone', old, factChanges(old, undefined))),
    ].sort((a, b) => (a.provider < b.provider ? -1 : 1))
  })

const factChanges = (before: EndpointEntry | undefined, after: EndpointEntry | undefined): readonly FactChange[] => {
  const old = factsOf(before)
  const now = factsOf(after)
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((fact) =>
    old.get(fact) === now.get(fact) ? [] : [{ fact, before: old.get(fact), after: now.get(fact) }],
  )
}

const factsOf = (endpoint: EndpointEntry | undefined): ReadonlyMap<string, string> => {
  if (endpoint === undefined) return new Map()
  const { prices, context_length, max_completion_tokens } = endpoint
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
