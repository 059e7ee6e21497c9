/**
 * The attempts of one run, handed out one after the other: endpoints in the order of the plan, each with its credentials in turn, and never
 * more than the limits and the health of the endpoints allow.
 */
import type { Credential, Credentials } from '../../routing/credentials.ts'
import type { Health } from '../../routing/health.ts'
import { ATTEMPTS_MAX, type PlannedAttempt } from '../../routing/plan-attempts.ts'
import { credentialFault, nextStep, type FailedAttempt } from './failover.ts'

/** An attempt that occupies a slot at its endpoint. The caller must report its end to `health` exactly once. */
export interface BegunAttempt {
  readonly planned: PlannedAttempt
  readonly credential: Credential
  /** True if the attempt counts in the retry budget of its provider (decisions/0289). */
  readonly retry: boolean
  /**
   * True if another key of the same provider may be tried, or this key is a customer's. A failure of this key then does not count against
   * the endpoint.
   */
  readonly spareKeys: boolean
}

export interface AttemptOrder {
  /** The first attempt; null if every endpoint is closed or full. */
  first(): BegunAttempt | null
  /** The attempt that follows a failed one; null if that failure is the answer. */
  after(failed: FailedAttempt): BegunAttempt | null
  /** The candidates that were considered but not asked, each once, with the reason. */
  readonly notTried: readonly NotTried[]
}

export interface NotTried {
  readonly planned: PlannedAttempt
  readonly why: 'broken' | 'full' | 'retries' | 'no-key' | 'enough'
}

/** The part of a provider that the attempt before has loaded: its model, or only the check of its key; `none` if nothing was sent. */
type LoadBefore = 'model' | 'key' | 'none'

/** The index of a customer's key, which is not in the operator's list. */
const CUSTOMERS = -1

/** `named`: the request itself names several models in order. A fallback that a client asks for is not a retry of ours. */
export const createAttemptOrder = (
  attempts: readonly PlannedAttempt[],
  { health, credentials }: { readonly health: Health; readonly credentials: Credentials },
  named: boolean,
): AttemptOrder => {
  const notTried = new Map<PlannedAttempt, NotTried['why']>()
  let position = 0
  /** Attempts that count against the limit. A key that worked until its fault took no time worth counting. */
  let made = 0
  let current: BegunAttempt | null = null
  const asked = new Set<string>()
  /** Keys of the current endpoint's provider that have failed. */
  let failedKeys = new Set<number>()
  /** By model: the largest context length that was refused. Endpoints with no more context would refuse the request as well. */
  const refusedUpTo = new Map<string, number>()
  const isRefused = ({ model, endpoint }: PlannedAttempt): boolean => (endpoint.contextLength ?? 0) <= (refusedUpTo.get(model.id) ?? -1)

  const credentialOf = ({ customerKey, endpoint }: PlannedAttempt): Credential | null => {
    if (customerKey === undefined) return credentials.pick(endpoint.provider, failedKeys)
    return failedKeys.has(CUSTOMERS) ? null : { apiKey: customerKey.apiKey, index: CUSTOMERS, isByok: true, rests: false }
  }

  const pass = (planned: PlannedAttempt, why: NotTried['why']): null => {
    // A provider that was asked with one of its keys counts as tried.
    if (current?.planned !== planned) notTried.set(planned, why)
    return null
  }

  /** In an outage of all providers or keys, each further attempt is a repetition. */
  const isUnwell = ({ key }: PlannedAttempt, credential: Credential): boolean => {
    const { troubled, cooling } = health.of(key)
    return troubled || cooling || credential.rests
  }

  const begin = (planned: PlannedAttempt, before: LoadBefore): BegunAttempt | null => {
    const { slug } = planned.endpoint.provider
    const credential = credentialOf(planned)
    if (credential === null) return pass(planned, 'no-key')
    const isFallback = named && current?.planned.model.id !== planned.model.id
    const isRepeated = (before === 'model' && asked.has(slug)) || isUnwell(planned, credential)
    const retry = before !== 'none' && !isFallback && isRepeated
    if (retry && !health.mayRetry(slug)) return pass(planned, 'retries')
    if (!health.begin(planned.key, slug, retry)) return pass(planned, health.obstacle(planned.key, slug) ?? 'broken')
    made += 1
    asked.add(slug)
    const spareKeys = credential.isByok || planned.endpoint.provider.apiKeys.length > failedKeys.size + 1
    current = { planned, credential, retry, spareKeys }
    return current
  }

  /** Skips endpoints that are closed or full, or that would refuse the request as another endpoint of the model has. */
  const fromPosition = (before: LoadBefore): BegunAttempt | null => {
    for (; position < attempts.length; position += 1) {
      const planned = attempts[position]
      if (planned === undefined || isRefused(planned)) continue
      const begun = begin(planned, before)
      if (begun !== null) return begun
    }
    return null
  }

  return {
    get notTried() {
      return [...notTried].map(([planned, why]) => ({ planned, why }))
    },
    first: () => fromPosition('none'),
    after(failed) {
      if (current === null) return null
      const { planned, credential } = current
      const fault = credentialFault(failed)
      // The fault of a customer's key is the customer's to fix: it is not reported to the operator.
      if (fault !== null && !credential.isByok) {
        credentials.report(planned.endpoint.provider, credential, fault, failed.error.retryAfterSeconds ?? null)
        if (credential.apiKey !== null && !credential.rests) made -= 1
      }
      const step = nextStep(failed)
      if (step === 'none') return null
      if (made >= ATTEMPTS_MAX) {
        for (const left of attempts.slice(position + 1)) pass(left, 'enough')
        return null
      }
      const before = failed.zone === 'sent' ? (fault === null ? 'model' : 'key') : 'none'
      if (step === 'credential') {
        failedKeys.add(credential.index)
        // Keys that were known to rest do not take the turns of the endpoints that follow.
        const another = made + attempts.length - position - 1 < ATTEMPTS_MAX ? begin(planned, before) : null
        if (another !== null) return another
      }
      if (step === 'model') {
        const isTooLong = failed.error.type === 'context_length_exceeded'
        refusedUpTo.set(planned.model.id, (isTooLong ? planned.endpoint.contextLength : null) ?? Number.POSITIVE_INFINITY)
      }
      position += 1
      failedKeys = new Set()
      return fromPosition(before)
    },
  }
}
