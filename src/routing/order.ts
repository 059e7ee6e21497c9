/**
 * The order in which the candidates of one group are tried: by rank, within a rank by the sort, and in default balancing at random
 * (docs/contract/routing.md#default-order).
 */
import { comparedPrice, names, TIERS, untiered, type Candidate } from './candidate.ts'
import type { EndpointKey } from './health.ts'
import type { Cutoffs, SortBy, Preferences } from './preferences.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import type { ModelEndpoint } from '../models/model.ts'

export interface Ordering {
  readonly preferences: Preferences
  /** The estimated length of the input in tokens. */
  readonly inputTokens: number
  readonly sticky: EndpointKey | null
  readonly random: () => number
}

export interface Ordered {
  readonly candidates: readonly Candidate[]
  /** The reason for this order. */
  readonly why: string
}

export const orderCandidates = (candidates: readonly Candidate[], ordering: Ordering): Ordered => {
  const { preferences, sticky, random } = ordering
  if (candidates.length < 2) return { candidates, why: 'only candidate' }
  const [first] = candidates
  const tiered = preferences.tier !== null && candidates.some(({ endpoint }) => endpoint.serviceTier !== null)
  const sort = sortOf(first?.variant.sort ?? preferences.sort, preferences, tiered)
  const balanced = sort === null && preferences.order.length === 0 && first?.variant.longest !== true
  const ranked = candidates.map((candidate) => ({ candidate, rank: rankOf(candidate, ordering, balanced) }))
  const compare = comparison(sort ?? (balanced ? 'price' : null))
  ranked.sort((a, b) => a.rank - b.rank || compare(a.candidate, b.candidate))
  const sorted = ranked.map(({ candidate }) => candidate)
  if (preferences.order.length > 0) return { candidates: sorted, why: 'provider.order' }
  if (leadsBySticky(ranked, sticky)) {
    moveToFront(sorted, ({ key }) => key === sticky)
    return { candidates: sorted, why: 'sticky' }
  }
  if (!balanced) return { candidates: sorted, why: sort === null ? ':extended' : `sort:${sort}` }
  const leading = ranked.findIndex(({ rank }) => rank !== ranked[0]?.rank)
  const drawn = drawByPrice(sorted.slice(0, leading < 0 ? sorted.length : leading), random)
  moveToFront(sorted, (candidate) => candidate === drawn)
  return { candidates: sorted, why: 'price-weighted' }
}

interface Ranked {
  readonly candidate: Candidate
  readonly rank: number
}

/**
 * A warm cache decides only among the candidates that come first for more important reasons: their tier, room for the input, their health.
 */
const leadsBySticky = (ranked: readonly Ranked[], sticky: EndpointKey | null): boolean => {
  const remembered = sticky === null ? undefined : ranked.find(({ candidate }) => candidate.key === sticky)
  return remembered !== undefined && remembered.rank === ranked[0]?.rank && !isUnwell(remembered.candidate)
}

const isUnwell = ({ health }: Candidate): boolean => health.cooling || health.troubled

/** If the request names no sort, the tier determines one. */
const sortOf = (asked: SortBy | null, { tier }: Preferences, tiered: boolean): SortBy | null => {
  if (asked !== null || !tiered) return asked
  return tier === 'flex' ? 'price' : 'throughput'
}

/** Each reason is a digit of the rank, the most important one first. */
const rankOf = ({ endpoint, health, variant }: Candidate, { preferences, inputTokens }: Ordering, balanced: boolean): number => {
  const { order, tier } = preferences
  // The provider itself asked for a pause, which counts more than the client's order and tier (decisions/0009).
  let rank = Number(health.cooling)
  rank = rank * (order.length + 1) + positionIn(order, endpoint)
  rank = rank * 4 + (tier === null ? 0 : Math.max(0, TIERS[tier].indexOf(endpoint.serviceTier)))
  rank = rank * 2 + Number(endpoint.contextLength !== null && inputTokens > endpoint.contextLength)
  // An explicit order is the client's own judgement of which endpoints are healthy.
  rank = rank * 2 + Number(balanced && health.troubled)
  rank = rank * 2 + Number(!meetsPreferences(health, preferences))
  // As the least important reason, the longer context comes first.
  return variant.longest ? rank + 1 - Math.min(1, (endpoint.contextLength ?? 0) / LONGEST) : rank
}

const LONGEST = 1e9

/** An endpoint that is not named comes last. A provider's name also covers its tiers: those that are candidates were requested. */
const positionIn = (order: readonly string[], endpoint: ModelEndpoint): number => {
  const own = order.findIndex((name) => names(endpoint, name))
  const position = own < 0 && endpoint.serviceTier !== null ? order.findIndex((name) => names(untiered(endpoint), name)) : own
  return position < 0 ? order.length : position
}

/** All cutoffs must be met. An endpoint without measurements in the last minutes has not missed any. */
const meetsPreferences = (health: EndpointHealth, { minThroughput, maxLatencyMs }: Preferences): boolean =>
  (minThroughput === null || holds(health.tokensPerSecond, minThroughput, (measured, cutoff) => measured >= cutoff)) &&
  (maxLatencyMs === null || holds(health.latencyMs, maxLatencyMs, (measured, cutoff) => measured <= cutoff))

const holds = (measured: EndpointHealth['latencyMs'], cutoffs: Cutoffs, meets: (measured: number, cutoff: number) => boolean): boolean =>
  measured === null || cutoffs.every(([percentile, cutoff]) => meets(measured[percentile], cutoff))

type Comparison = (a: Candidate, b: Candidate) => number

/** Unknown values come after known ones. Equal candidates keep the order of the catalogue. */
const comparison = (sort: SortBy | null): Comparison => {
  switch (sort) {
    case null:
      return () => 0
    case 'price':
      return ascending(({ endpoint }) => comparedPrice(endpoint))
    case 'latency':
      return ascending(({ health }) => health.latencyMs?.p50 ?? null)
    case 'throughput':
      return ascending(({ health }) => negative(health.tokensPerSecond?.p50))
    case 'exacto': {
      const byWeights = ascending(({ endpoint }) => PRECISION[endpoint.quantization] ?? null)
      const byUptime = ascending(({ health }) => negative(health.uptime.last30m))
      return (a, b) => byWeights(a, b) || byUptime(a, b)
    }
  }
}

const negative = (value: number | null | undefined): number | null => (value === null || value === undefined ? null : -value)

const ascending =
  (measure: (candidate: Candidate) => number | null): Comparison =>
  (a, b) => {
    const one = measure(a) ?? Number.POSITIVE_INFINITY
    const other = measure(b) ?? Number.POSITIVE_INFINITY
    return one === other ? 0 : one - other
  }

/** Estimates quality, without a judge, by how little the weights were rounded. */
const PRECISION: Readonly<Record<string, number>> = {
  fp32: 0,
  bf16: 0,
  fp16: 0,
  fp8: 1,
  mxfp8: 1,
  int8: 1,
  fp6: 2,
  fp4: 3,
  mxfp4: 3,
  nvfp4: 3,
  int4: 3,
}

/**
 * Draws one candidate at random, weighted by 1/price². Those without a known price have no weight; if no price is known, the first one is
 * taken.
 */
const drawByPrice = (candidates: readonly Candidate[], random: () => number): Candidate | undefined => {
  // The sandbox must behave the same every time (docs/contract/operating.md#sandbox).
  if (candidates.length < 2 || candidates.some(({ endpoint }) => endpoint.provider.dialects.includes('sandbox'))) return candidates[0]
  const weights = candidates.map(({ endpoint }) => weightOf(comparedPrice(endpoint)))
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0)
  return candidates.find((_, index) => (left -= weights[index] ?? 0) < 0) ?? candidates[0]
}

/** The weight of a free endpoint: nothing is cheaper, and two free ones are equal. */
const FREE_WEIGHT = 1e18

const weightOf = (price: number | null): number => (price === null ? 0 : Math.min(FREE_WEIGHT, 1 / price ** 2))

/** The others keep their order. */
const moveToFront = (candidates: Candidate[], wanted: (candidate: Candidate) => boolean): void => {
  const at = candidates.findIndex(wanted)
  if (at > 0) candidates.unshift(...candidates.splice(at, 1))
}
