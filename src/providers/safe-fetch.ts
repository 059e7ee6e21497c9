/**
 * The way out to addresses that are not the operator's own word: https to the open internet only. A name is resolved once,
 * every address of it is checked, and the connection goes to a checked one, so that a name which answers differently the
 * next time gains nothing. Redirects are followed by the same rules, a few of them (docs/contract/operating.md#addresses).
 */
import { lookup as systemLookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'

import type { Clock } from '../lib/clock.ts'
import { parseIpv4, parseIpv6 } from '../lib/ip-address.ts'
import { isOwnLimit, noConnectionLeft } from './own-limits.ts'
import { isPublicAddress } from '../lib/safe-address.ts'
import { retryHint } from './retry-hint.ts'

/** The request was not made, or its answer not read; `message` says why, without the answer's own words. */
export class UnsafeRequest extends Error {
  override readonly name = 'UnsafeRequest'
}

export interface SafeRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Null asks for what is there (GET). */
  readonly body: string | null
  /** In all: names, connections, redirects, answer. */
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

export interface SafeResponse {
  readonly status: number
  readonly contentType: string | null
  /** How long it asks to wait, where it does. */
  readonly retryAfterSeconds?: number
  readonly bytes: Buffer
  /** Of its bytes as UTF-8. */
  readonly text: string
}

export interface SafeFetchParts {
  readonly clock: Clock
  /** `host` or `host:port`: these may be private, and spoken to without TLS. */
  readonly trustedHosts: readonly string[]
  /** The setting that names them: refusals tell of it. */
  readonly trustedBy?: string
  /** Whether the open internet may be spoken to without TLS. */
  readonly plainHttp?: boolean
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

/** POSTs its body, where there is one. Throws UnsafeRequest, and `provider_overloaded` where this machine gives no connection. */
export type SafeFetch = (request: SafeRequest) => Promise<SafeResponse>

const HOPS_MAX = 3

export const createSafeFetch = ({
  clock,
  trustedHosts,
  trustedBy = 'moderation.trusted_hosts',
  plainHttp = false,
  resolve = resolveByDns,
}: SafeFetchParts): SafeFetch => {
  const rules: Rules = { trusted: new Set(trustedHosts.map((host) => host.toLowerCase())), trustedBy, plainHttp }
  return async ({ url, headers, body, timeoutMs, maxBytes, signal }) => {
    const connection = new AbortController()
    const leave = (): void => connection.abort()
    if (signal?.aborted === true) leave()
    signal?.addEventListener('abort', leave, { once: true })
    let cancelDeadline: (() => void) | undefined
    const late = new Promise<never>((_, reject) => {
      cancelDeadline = clock.after(timeoutMs, () => {
        connection.abort()
        reject(new UnsafeRequest(`no answer within ${timeoutMs} ms`))
      })
    })
    const hops = async (): Promise<SafeResponse> => {
      let step: Hop = { url: checkedUrl(url, rules), method: body === null ? 'GET' : 'POST', headers, body: body ?? '' }
      for (let hop = 0; ; hop += 1) {
        const address = await checkedAddress(step.url, rules, resolve)
        const { response, location } = await send(step, address, { maxBytes, signal: connection.signal, clock })
        if (location === null) return response
        if (hop === HOPS_MAX) throw new UnsafeRequest(`more than ${HOPS_MAX} redirects`)
        step = redirected(step, response.status, checkedUrl(new URL(location, step.url).href, rules))
      }
    }
    try {
      return await Promise.race([hops(), late])
    } catch (thrown) {
      if (thrown instanceof UnsafeRequest) throw thrown
      const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : null
      if (isOwnLimit(code)) throw noConnectionLeft(thrown)
      throw new UnsafeRequest(code ?? 'the connection failed', { cause: thrown })
    } finally {
      cancelDeadline?.()
      signal?.removeEventListener('abort', leave)
    }
  }
}

interface Hop {
  readonly url: URL
  readonly method: 'POST' | 'GET'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Rules {
  readonly trusted: ReadonlySet<string>
  readonly trustedBy: string
  readonly plainHttp: boolean
}

const isTrusted = ({ hostname, host }: URL, { trusted }: Rules): boolean => trusted.has(bare(hostname)) || trusted.has(host.toLowerCase())

const bare = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$/g, '')

const checkedUrl = (text: string, rules: Rules): URL => {
  const { trustedBy, plainHttp } = rules
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UnsafeRequest('not an https address')
  if (url.username !== '' || url.password !== '') throw new UnsafeRequest('an address with credentials')
  if (isTrusted(url, rules)) return url
  if (url.protocol !== 'https:' && !plainHttp) throw new UnsafeRequest(`http is for hosts in ${trustedBy} only`)
  if (url.port !== '') throw new UnsafeRequest(`ports but ${plainHttp ? '80 and ' : ''}443 are for hosts in ${trustedBy} only`)
  return url
}

/** Every address must be public: which of them is used is not for the name's owner to choose. */
const checkedAddress = async (url: URL, rules: Rules, resolve: (host: string) => Promise<readonly string[]>): Promise<string> => {
  const host = bare(url.hostname)
  const isLiteral = parseIpv4(host) !== null || parseIpv6(host) !== null
  const addresses = isLiteral ? [host] : await resolve(host)
  const [first] = addresses
  if (first === undefined) throw new UnsafeRequest('the name has no address')
  if (!isTrusted(url, rules) && !addresses.every(isPublicAddress)) {
    throw new UnsafeRequest(`the address is not of the open internet; its host is not in ${rules.trustedBy}`)
  }
  return first
}

const resolveByDns = async (host: string): Promise<readonly string[]> =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

const send = (
  { url, method, headers, body }: Hop,
  address: string,
  { maxBytes, signal, clock }: { maxBytes: number; signal: AbortSignal; clock: Pick<Clock, 'now'> },
): Promise<{ response: SafeResponse; location: string | null }> =>
  new Promise((resolve, reject) => {
    const family = address.includes(':') ? 6 : 4
    // Loaded on first use: few services send such requests, and both take long to load.
    const client = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
    const request = client.request(
      url,
      {
        method,
        headers: {
          ...headers,
          'accept-encoding': 'identity',
          ...(method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {}),
        },
        signal,
        // The checked address, whatever the name says by now.
        lookup: (_host, options, done) => (options.all === true ? done(null, [{ address, family }]) : done(null, address, family)),
      },
      (message) => {
        const status = message.statusCode ?? 0
        const { location } = message.headers
        if (REDIRECTS.has(status) && location !== undefined) {
          message.destroy()
          resolve({ response: responseOf(status, null, Buffer.alloc(0)), location })
          return
        }
        const type = message.headers['content-type'] ?? null
        const told = status === 429 || status >= 500 ? message.headers['retry-after'] : undefined
        const wait = told === undefined ? undefined : retryHint(new Headers({ 'retry-after': told }), clock.now())
        readBytes(message, maxBytes).then((bytes) => resolve({ response: responseOf(status, type, bytes, wait), location: null }), reject)
      },
    )
    request.on('error', reject)
    request.end(method === 'POST' ? body : undefined)
  })

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** As browsers do it: only 307 and 308 keep method and body. Another host is told nothing of what the first was told. */
const redirected = (from: Hop, status: number, url: URL): Hop => {
  const keeps = status === 307 || status === 308
  const type = from.headers['content-type']
  const headers = url.host === from.url.host ? from.headers : type === undefined ? {} : { 'content-type': type }
  return { url, method: keeps ? from.method : 'GET', headers, body: keeps ? from.body : '' }
}

const responseOf = (status: number, contentType: string | null, bytes: Buffer, retryAfterSeconds?: number): SafeResponse => ({
  status,
  contentType,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  bytes,
  get text() {
    return bytes.toString('utf8')
  },
})

const readBytes = async (message: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of message as AsyncIterable<Buffer>) {
    bytes += piece.byteLength
    if (bytes > maxBytes) {
      message.destroy()
      throw new UnsafeRequest(`an answer of more than ${maxBytes} bytes`)
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
