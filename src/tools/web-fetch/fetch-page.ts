/** Fetches one page anonymously: without cookies, credentials or the client's headers, and only from the public internet. */
import type { ServerToolFault } from '../../canonical/server-tools.ts'
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { type SafeFetch, type SafeResponse, UnsafeRequest } from '../../providers/transport/safe-fetch.ts'

/** The reason why there is no page, in the form of a tool's result. */
export class NoPage extends Error {
  override readonly name = 'NoPage'
  readonly code: ServerToolFault
  readonly status: number | null

  constructor(code: ServerToolFault, message: string, status: number | null = null) {
    super(message)
    this.code = code
    this.status = status
  }
}

export interface PageRequest {
  readonly url: string
  /** Returns why a URL (the first, or that of a redirect) must not be fetched; null if it may be. */
  readonly refuse: (url: URL) => string | null
  readonly signal: AbortSignal
}

/** Returns the page of a host that answers with success. Throws NoPage. */
export type FetchPage = (request: PageRequest) => Promise<SafeResponse>

const URL_MAX = 2048
const REDIRECTS_MAX = 5
const BYTES_MAX = 10 * 1024 * 1024
const TIMEOUT_MS = 15_000
/** Number of attempts in total. */
const TRIES = 2

export const createFetchPage =
  (get: SafeFetch, clock: Pick<Clock, 'monotonicMs'>, userAgent: string): FetchPage =>
  async ({ url, refuse, signal }) => {
    if (url.length > URL_MAX) throw new NoPage('url_too_long', TOO_LONG)
    const untilMs = clock.monotonicMs() + TIMEOUT_MS
    const once = (): Promise<SafeResponse> =>
      get({
        url,
        headers: { 'user-agent': userAgent, accept: ACCEPT },
        body: null,
        timeoutMs: Math.max(0, Math.ceil(untilMs - clock.monotonicMs())),
        maxBytes: BYTES_MAX,
        redirects: REDIRECTS_MAX,
        refuse: (hop) => (hop.href.length > URL_MAX ? TOO_LONG : refuse(hop)),
        compressed: true,
        signal,
      })
    for (let tries = 1; ; tries += 1) {
      const mayRetry = (): boolean => tries < TRIES && !signal.aborted && clock.monotonicMs() < untilMs
      try {
        const answer = await once()
        if (answer.status === 200) return answer
        if (!mayRetry() || !isPassing(answer.status)) throw new NoPage(...refusedWith(answer.status), answer.status)
      } catch (thrown) {
        if (thrown instanceof GatewayError) throw new NoPage('unavailable', 'The service has no connection left. Try again later.')
        if (!(thrown instanceof UnsafeRequest)) throw thrown
        if (!mayRetry() || thrown.kind !== 'connection')
          throw new NoPage(CODES[thrown.kind], `The page cannot be fetched: ${thrown.message}.`)
      }
    }
  }

const TOO_LONG = `The address has more than ${URL_MAX} characters`
const ACCEPT =
  'text/html, application/xhtml+xml, text/markdown, text/plain, application/json, application/xml, application/pdf, text/*;q=0.8'

const isPassing = (status: number): boolean => status === 429 || status >= 500

const refusedWith = (status: number): [ServerToolFault, string] => [
  status === 429 ? 'too_many_requests' : 'url_not_accessible',
  `HTTP ${status}: ${MEANINGS[status] ?? 'the page was not given'}`,
]

const MEANINGS: Readonly<Record<number, string>> = {
  204: 'No content',
  401: 'The page wants a login',
  403: 'Forbidden',
  404: 'Page not found',
  410: 'The page is gone',
  429: 'Too many requests',
  500: 'The host failed',
  503: 'The host is unavailable',
}

const CODES = {
  address: 'url_not_allowed',
  policy: 'url_not_allowed',
  connection: 'url_not_accessible',
  redirects: 'url_not_accessible',
  size: 'content_too_large',
} as const
