/** Wraps the safe fetch in the signature that a library expects. */
import type { SafeFetch } from '../providers/transport/safe-fetch.ts'

/** The function that a library calls in place of `fetch`. */
type Fetching = (url: string, options: { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown }) => Promise<Response>

const TIMEOUT_MS = 10_000
const BYTES_MAX = 1024 * 1024

/** Follows no redirects: only the configured addresses are called. */
export const fetchBy =
  (safeFetch: SafeFetch): Fetching =>
  async (url, { headers, body }) => {
    const text = body instanceof URLSearchParams ? body.toString() : null
    const answer = await safeFetch({ url, headers, body: text, timeoutMs: TIMEOUT_MS, maxBytes: BYTES_MAX, redirects: 0 })
    return new Response(answer.bytes, {
      status: answer.status,
      headers: answer.contentType === null ? {} : { 'content-type': answer.contentType },
    })
  }
