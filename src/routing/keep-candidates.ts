/** Decides which of a model's endpoints may serve a request. */
import type { AskedModel, Candidate } from './candidate.ts'
import { candidatesOf, endpointKey, servesTier } from './candidate.ts'
import type { Removed } from './explain.ts'
import { exclusion, type Filters, shortness } from './filters.ts'
import type { HealthView } from './health.ts'
import { heeds, type SentParameter } from './sent-parameters.ts'

export interface Conditions extends Filters {
  readonly health: HealthView
  /** If some candidates lack nothing by this, only they stay; null if there is no such need. */
  readonly lackOf: ((candidate: Candidate) => string | null) | null
  /** If some candidates support one of these parameters, only they stay. */
  readonly preferred: readonly SentParameter[]
}

/** `removed` receives those left out. */
export const keepCandidates = (asked: AskedModel, conditions: Conditions, removed: Removed[]): readonly Candidate[] => {
  const { health, lackOf, preferred } = conditions
  const { tier } = conditions.preferences
  const tiered = tier !== null && servesTier(asked.model, tier)
  const remove = ({ model, endpoint }: Candidate, reason: string): void =>
    void removed.push({ model: model.id, provider: endpoint.tag, reason })
  const kept = candidatesOf(asked, health).filter((candidate) => {
    const reason = exclusion(candidate, conditions, tiered) ?? (candidate.health.breaker === 'open' ? BREAKER : null)
    if (reason !== null) remove(candidate, reason)
    return reason === null
  })
  const prefer = (left: readonly Candidate[], lackOf: (candidate: Candidate) => string | null): readonly Candidate[] => {
    const able = left.filter((candidate) => lackOf(candidate) === null)
    if (able.length === 0 || able.length === left.length) return left
    for (const candidate of left) {
      const lack = lackOf(candidate)
      if (lack !== null) remove(candidate, lack)
    }
    return able
  }
  const equipped = lackOf === null ? kept : prefer(kept, lackOf)
  // If no endpoint gives as much output as the request allows, the endpoint that is asked gives what it can.
  const roomy = prefer(equipped, ({ endpoint }) => shortness(endpoint, conditions.call))
  return preferred.reduce(
    (left, parameter) =>
      prefer(left, ({ endpoint }) => (heeds(endpoint.supportedParameters, parameter) ? null : `others support ${parameter[0] ?? ''}`)),
    roomy,
  )
}

const BREAKER = 'circuit breaker open'

/** Seconds until the first endpoint that only its open breaker excludes lets a request through; null if there is none. */
export const secondsUntilOne = (asked: readonly AskedModel[], removed: readonly Removed[], health: HealthView): number | null => {
  const waits = removed.flatMap(({ model, provider, reason }) => {
    const found = reason === BREAKER ? asked.find((one) => one.model.id === model)?.model : undefined
    const endpoint = found?.endpoints.find(({ tag }) => tag === provider)
    return found === undefined || endpoint === undefined ? [] : [health.of(endpointKey(found, endpoint)).retryAfterSeconds ?? 1]
  })
  return waits.length === 0 ? null : Math.min(...waits)
}
