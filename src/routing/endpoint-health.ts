/** The health of an endpoint, and the report of one attempt about it. */
import type { Percentiles } from './sliding-histogram.ts'

export interface AttemptReport {
  /**
   * ok: the answer ended, or content flowed; failure: a gateway-type fault (5xx, cut connection, timeout, refused); rate-limited: 429;
   * fault-of-request: a 4xx that describes the request; cancelled: the client left.
   */
  readonly outcome: 'ok' | 'failure' | 'rate-limited' | 'fault-of-request' | 'cancelled'
  readonly firstTokenMs: number | null
  /** Output tokens per second after the first token; null if there are too few tokens for a rate. */
  readonly tokensPerSecond: number | null
  readonly retryAfterSeconds: number | null
  /** When the attempt began, by the monotonic clock; if absent, it counts as recent. */
  readonly startedMs?: number
  /** The value that was passed to `begin`. */
  readonly retry?: boolean
}

export interface EndpointHealth {
  /** A significant outage in the last 30 s: the endpoint is tried last in default balancing. */
  readonly troubled: boolean
  /** The provider answered 429: the endpoint is avoided for as long as the provider asked, if there is another one. */
  readonly cooling: boolean
  /** No request is sent to an open breaker. `half-open`: one probe may go. */
  readonly breaker: 'closed' | 'open' | 'half-open'
  /** Seconds until an open breaker or a cooldown lets a request through; null if requests pass now. */
  readonly retryAfterSeconds: number | null
  /** Percentiles of our own measurements in a rolling window of 5 minutes; null without measurements. */
  readonly latencyMs: Percentiles | null
  readonly tokensPerSecond: Percentiles | null
  /** The same over 30 minutes. */
  readonly last30m: { readonly latencyMs: Percentiles | null; readonly tokensPerSecond: Percentiles | null }
  /** Shares from 0 to 1 over 5 min, 30 min and 1 day; null without any attempt. */
  readonly uptime: { readonly last5m: number | null; readonly last30m: number | null; readonly last1d: number | null }
}
