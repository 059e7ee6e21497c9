/** How an endpoint fares, and what one attempt reports of it. */
import type { Percentiles } from './sliding-histogram.ts'

export interface AttemptReport {
  /**
   * ok: ended or content flowed; failure: a gateway-type fault (5xx, cut, timeout, refused); rate-limited: 429;
   * fault-of-request: a 4xx that describes the request; cancelled: the client left.
   */
  readonly outcome: 'ok' | 'failure' | 'rate-limited' | 'fault-of-request' | 'cancelled'
  readonly firstTokenMs: number | null
  /** Output tokens per second after the first token; null where there are too few for a rate. */
  readonly tokensPerSecond: number | null
  readonly retryAfterSeconds: number | null
  /** When it began, by the monotonic clock; absent: of late. */
  readonly startedMs?: number
  /** As it was passed to `begin`. */
  readonly retry?: boolean
}

export interface EndpointHealth {
  /** A significant outage in the last 30 s: tried last in default balancing. */
  readonly troubled: boolean
  /** The provider said 429: it is left alone for as long as it asked, where there is another. */
  readonly cooling: boolean
  /** No request is sent to an open breaker. `half-open`: one probe may go. */
  readonly breaker: 'closed' | 'open' | 'half-open'
  /** Until an open breaker or a cooldown lets a request through; null where it does. */
  readonly retryAfterSeconds: number | null
  /** Percentiles over a rolling 5-minute window of our own measurements; null without any. */
  readonly latencyMs: Percentiles | null
  readonly tokensPerSecond: Percentiles | null
  /** The same over 30 minutes. */
  readonly last30m: { readonly latencyMs: Percentiles | null; readonly tokensPerSecond: Percentiles | null }
  /** Shares 0..1 over 5 min, 30 min, 1 day; null without any attempt. */
  readonly uptime: { readonly last5m: number | null; readonly last30m: number | null; readonly last1d: number | null }
}
