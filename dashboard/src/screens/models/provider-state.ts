/** The state of a provider, as a mark and words. */
import type { ProviderHealth } from '../../api/providers.ts'
import type { UsageSums } from '../../api/usage.ts'
import type { Mark } from '../../parts/status.tsx'
import { duration, percent } from '../../units.ts'

interface ProviderState {
  readonly mark: Mark
  readonly words: string
  /** How many of its models are not asked; empty if all are. */
  readonly shut: string
  /** The time at which an open circuit breaker lets a request through again. */
  readonly until: string | null
}

/** Its models fail when they are asked to, so that somebody can try what happens: nothing is wrong then. */
export const SANDBOX = 'sandbox'
/** Its only model fails always, so that somebody can watch a failover. */
export const SANDBOX_SPARE = 'sandbox-spare'

/** The share of failures from which an answer does not make up for them (decisions/0242, decisions/0250). */
const OFTEN = 0.1

/** How much of what was asked failed, over any time. Null if it is too little to mark. */
export const failedShare = (ok: number, failed: number): number | null => {
  const share = failed === 0 ? 0 : failed / (ok + failed)
  return share < OFTEN ? null : share
}

/** Says the number, too, since a mark alone tells a tenth from nine tenths no better than colours do. */
export const failedWords = (share: number, asked: number): string =>
  share < 1 ? `${percent(share)} failed` : asked < ENOUGH ? `${asked} of ${asked} failed` : 'all failed'

/** The last 24 hours of a provider, as `failedShare` sees them. */
const failedIn24h = (uptime: number | null): number | null => (uptime === null ? null : failedShare(uptime, 100 - uptime))

const STATES: Readonly<Record<ProviderHealth['status'], readonly [Mark, string]>> = {
  ok: ['ok', 'Answers'],
  degraded: ['left', 'Fails at times'],
  down: ['error', 'Down'],
  unused: ['none', 'Not asked in 24 h'],
}

/** Nothing says that it fails now, and what failed in 24 hours is too much to call it well. */
const FAILED: readonly [Mark, string] = ['left', 'Failed at times']

/** Shown if the breaker is half open, or has seen too few requests to open. */
const FAILING: readonly [Mark, string] = ['error', 'Fails every time']

/** Its failures are too old to say that it fails now, and nothing says that it answers. */
const NEVER_ANSWERED: readonly [Mark, string] = ['error', 'Answered nothing in 24 h']

/** A call or two that failed do not show that a provider answers nothing. A breaker opens after as many in a row (decisions/0250). */
const ENOUGH = 5

/** Red only if it was asked often enough to know. */
export const markOfFailed = (share: number, asked: number): Mark => (share === 1 && asked >= ENOUGH ? 'error' : 'left')

const askedIn24h = (strip: ProviderHealth['strip']): number => strip.reduce((sum, { ok, failed }) => sum + ok + failed, 0)

const answeredNothing = (asked: number): readonly [Mark, string] =>
  asked < ENOUGH ? ['left', `Answered 0 of ${asked} in 24 h`] : NEVER_ANSWERED

const lookOf = ({ status, uptime, strip }: Pick<ProviderHealth, 'status' | 'uptime' | 'strip'>): readonly [Mark, string] => {
  if (uptime === 0 && status === 'degraded') return FAILING
  if (uptime === 0 && status === 'ok') return answeredNothing(askedIn24h(strip))
  return status === 'ok' && failedIn24h(uptime) !== null ? FAILED : STATES[status]
}

export const stateOf = (health: ProviderHealth | undefined): ProviderState => {
  if (health === undefined) return { mark: 'none', words: 'Unknown', shut: '', until: null }
  const shut = health.endpoints.filter(({ breaker }) => breaker.state === 'open')
  const until = health.breaker.until ?? shut[0]?.breaker.until ?? null
  const [mark, words] = lookOf(health)
  return {
    mark,
    words,
    shut: shut.length === 0 ? '' : `; ${shut.length === 1 ? shut[0]?.model : `${shut.length} models`} not asked`,
    until,
  }
}

/** The median and the 99th percentile of the time to the first token. */
export const percentilesOf = (sums: UsageSums | undefined): string =>
  sums === undefined || sums.ttft_p50 === null ? '–' : `${duration(sums.ttft_p50)}, ${duration(sums.ttft_p99)}`

/** A provider's state for one model. */
export interface Served {
  readonly name: string
  readonly mark: Mark
  readonly words: string
  /** In the last 24 hours; null if it is too little to mark. */
  readonly failed: number | null
  readonly asked: number
}

/** By model; the providers are in the order of the list. */
export const servedBy = (health: readonly ProviderHealth[]): ReadonlyMap<string, readonly Served[]> => {
  const served = new Map<string, readonly Served[]>()
  for (const { name, endpoints } of health) {
    for (const endpoint of endpoints) {
      const before = served.get(endpoint.model) ?? []
      if (before.some((one) => one.name === name)) continue
      const [mark, words] = lookOf(endpoint)
      served.set(endpoint.model, [
        ...before,
        { name, mark, words, failed: failedIn24h(endpoint.uptime), asked: askedIn24h(endpoint.strip) },
      ])
    }
  }
  return served
}
