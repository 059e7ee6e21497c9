/** The health of the providers, as our own attempts show it: a state machine over an injected monotonic clock. */
import type { Clock } from '../lib/clock.ts'
import { EndpointState } from './endpoint-state.ts'
import type { AttemptReport, EndpointHealth } from './endpoint-health.ts'
import { type EndpointNews, NEWS_MAX } from './node-news.ts'

/** One endpoint of one model: `${model.id} ${endpoint.tag}`. */
export type EndpointKey = string

export interface HealthView {
  of(key: EndpointKey): EndpointHealth
  /** Why no attempt may begin at this endpoint now; null if one may. */
  obstacle(key: EndpointKey, provider: string): 'broken' | 'full' | null
}

export interface Health extends HealthView {
  /**
   * Call it before an attempt. True: the attempt may begin (this takes the half-open probe and counts the attempt as in flight), and the
   * caller must call `end` exactly once. False: the breaker is open, its probe is already running, or the provider is at its in-flight
   * limit. `retry`: the attempt follows a failed one of this request, and the request did not name it as a fallback.
   */
  begin(key: EndpointKey, provider: string, retry?: boolean): boolean
  end(key: EndpointKey, provider: string, report: AttemptReport): void
  /**
   * True if another attempt may follow a failed one: each provider has one retry budget (retries ≤ 20 % of active requests, at least 3).
   */
  mayRetry(provider: string): boolean
  /** Findings of this process, to report to other nodes. */
  found(): EndpointNews[]
  /** Takes the findings of all other nodes, replacing the earlier reports. */
  hear(news: readonly EndpointNews[]): void
}

const RETRY_SHARE = 0.2
const RETRIES_MIN = 3
/** Bounded because a local server may be asked for any number of model names. */
const ENDPOINTS_MAX = 1000

export interface HealthOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** The maximum number of concurrent attempts at one provider, as the configuration has it now. */
  readonly inFlightMax: () => number
  /** Providers whose failures do not indicate an outage. */
  readonly neverEjected: ReadonlySet<string>
}

/** The current load of one provider. */
interface Pool {
  inFlight: number
  retries: number
}

export const createHealth = ({ clock, inFlightMax, neverEjected }: HealthOptions): Health => {
  const now = (): number => clock.monotonicMs()
  const endpoints = new Map<EndpointKey, EndpointState>()
  /** The same states by model: what many nodes report every second is a question about the siblings of each endpoint. */
  const byModel = new Map<string, Set<EndpointState>>()
  const pools = new Map<string, Pool>()
  let heard = new Map<EndpointKey, EndpointNews>()

  const stateOf = (key: EndpointKey, provider: string): EndpointState => {
    const known = endpoints.get(key)
    if (known !== undefined) return known
    if (endpoints.size >= ENDPOINTS_MAX) forgetOne()
    const state = new EndpointState(now, provider, !neverEjected.has(provider))
    endpoints.set(key, state)
    const siblings = byModel.get(modelOf(key))
    if (siblings === undefined) byModel.set(modelOf(key), new Set([state]))
    else siblings.add(state)
    return state
  }

  /** Forgets the oldest idle endpoint, preferably one whose breaker is closed. */
  const forgetOne = (): void => {
    const idle = endpoints.entries().filter(([, { inFlight }]) => inFlight === 0)
    let chosen: [EndpointKey, EndpointState] | undefined
    for (const entry of idle) {
      chosen ??= entry
      if (entry[1].breaker !== 'closed') continue
      chosen = entry
      break
    }
    if (chosen === undefined) return
    const [key, state] = chosen
    endpoints.delete(key)
    const siblings = byModel.get(modelOf(key))
    siblings?.delete(state)
    if (siblings?.size === 0) byModel.delete(modelOf(key))
  }

  /** At most half of a model's endpoints that were tried may be ejected: a failing endpoint is better than none. */
  const mayOpen = (key: EndpointKey): boolean => {
    const siblings = byModel.get(modelOf(key)) ?? new Set()
    let open = 0
    for (const { breaker } of siblings) if (breaker !== 'closed') open += 1
    return open + 1 <= Math.floor(siblings.size / 2)
  }

  const isFull = (provider: string): boolean => (pools.get(provider)?.inFlight ?? 0) >= inFlightMax()

  return {
    of: (key) => endpoints.get(key) ?? UNTRIED,
    obstacle: (key, provider) => (isFull(provider) ? 'full' : endpoints.get(key)?.breaker === 'open' ? 'broken' : null),
    begin(key, provider, retry = false) {
      let pool = pools.get(provider)
      if (pool === undefined) pools.set(provider, (pool = { inFlight: 0, retries: 0 }))
      if (isFull(provider) || !stateOf(key, provider).admit()) return false
      pool.inFlight += 1
      if (retry) pool.retries += 1
      return true
    },
    end(key, provider, report) {
      const pool = pools.get(provider)
      if (pool !== undefined) {
        pool.inFlight -= 1
        if (report.retry === true) pool.retries -= 1
      }
      endpoints.get(key)?.report(report, () => mayOpen(key))
    },
    found() {
      const news: EndpointNews[] = []
      for (const [key, state] of endpoints) {
        const { openMs, coolingMs } = state.found
        if (openMs > 0 || coolingMs > 0) news.push({ key, provider: state.provider, openMs, coolingMs })
        if (news.length === NEWS_MAX) break
      }
      return news
    },
    hear(news) {
      const before = heard
      heard = new Map()
      for (const each of news) {
        const { key, provider, openMs, coolingMs } = each
        const other = heard.get(key)
        if (other === undefined && heard.size === ENDPOINTS_MAX) continue
        const longest = { openMs: Math.max(openMs, other?.openMs ?? 0), coolingMs: Math.max(coolingMs, other?.coolingMs ?? 0) }
        heard.set(key, { key, provider, ...longest })
      }
      for (const key of before.keys()) if (!heard.has(key)) endpoints.get(key)?.hear(NO_NEWS, false)
      for (const [key, each] of heard) {
        const state = stateOf(key, each.provider)
        state.hear(each, state.breaker !== 'closed' || mayOpen(key))
      }
    },
    mayRetry(provider) {
      const { inFlight, retries } = pools.get(provider) ?? { inFlight: 0, retries: 0 }
      return retries < Math.max(RETRIES_MIN, Math.floor(inFlight * RETRY_SHARE))
    },
  }
}

/** Neither an id nor a tag contains a space. */
const modelOf = (key: EndpointKey): string => key.slice(0, key.indexOf(' '))

const NO_NEWS = { openMs: 0, coolingMs: 0 }

const UNTRIED: EndpointHealth = {
  troubled: false,
  cooling: false,
  breaker: 'closed',
  retryAfterSeconds: null,
  latencyMs: null,
  tokensPerSecond: null,
  last30m: { latencyMs: null, tokensPerSecond: null },
  uptime: { last5m: null, last30m: null, last1d: null },
}
