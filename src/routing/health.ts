/** What is known of each endpoint from our own attempts. */

/** One endpoint of one model: `${model.id} ${endpoint.tag}`. */
export type EndpointKey = string

export interface AttemptReport {
  /** ok: ended or content flowed; failure: gateway-type fault; rate-limited: 429; fault-of-request: 4xx of the request; cancelled: nobody waited any more. */
  readonly outcome: 'ok' | 'failure' | 'rate-limited' | 'fault-of-request' | 'cancelled'
  readonly firstTokenMs: number | null
  readonly tokensPerSecond: number | null
  readonly retryAfterSeconds: number | null
}

export interface Health {
  /** At dispatch: true admits; then `end` exactly once. */
  begin(key: EndpointKey, provider: string): boolean
  end(key: EndpointKey, provider: string, report: AttemptReport): void
  /** Whether another attempt may follow a failed one. */
  mayRetry(provider: string): boolean
}

export const createHealth = (): Health => ({ begin: () => true, end: () => undefined, mayRetry: () => true })
