/**
 * The way out to addresses that do not come from the operator: https to the open internet only, or also http if that is allowed. A name is
 * resolved once, every address of it is checked, and the connection goes to a checked one, so a name that resolves differently the next
 * time gains nothing. A few redirects are followed, by the same rules (docs/contract/operating.md#addresses). Where the environment names a
 * proxy, it looks the name up and connects, and the name is checked as far as this machine knows it (decisions/0298).
 */
import { lookup as systemLookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'

import type { Clock } from '../../lib/clock.ts'
import { type ContentCoding, decodeBounded, readCodings, TooManyBytes, TooManyPieces } from '../../lib/network/content-coding.ts'
import { parseIpv4, parseIpv6 } from '../../lib/network/ip-address.ts'
import { isOwnLimit, noConnectionLeft } from './own-limits.ts'
import { processProxy, type ProxyOf } from '../../lib/network/outgoing-proxy.ts'
import { portOf } from '../../lib/network/port-of.ts'
import { isPrivateName } from '../../lib/network/private-name.ts'
import { isPublicAddress } from '../../lib/network/safe-address.ts'
import { bareHost, type IsTrustedHost, trustedHosts as readTrustedHosts } from '../../lib/network/trusted-hosts.ts'
import { retryHint } from '../failures/retry-hint.ts'
import { NoTunnel, throughProxy, type Way } from './through-proxy.ts'

/** The request was not made, or its answer was not read; `message` says why, without quoting the answer. */
export class UnsafeRequest extends Error {
  override readonly name = 'UnsafeRequest'
  readonly kind: RequestFault

  constructor(message: string, kind: RequestFault = 'address', options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** `size`: the answer is longer than `maxBytes`. `policy`: the request's own `refuse` refused the address. */
export type RequestFault = 'address' | 'connection' | 'redirects' | 'size' | 'policy'

export interface SafeRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Null sends a GET request. */
  readonly body: string | Uint8Array | null
  /** The method for a body; absent: POST. */
  readonly method?: 'POST' | 'PUT'
  /** The time limit for everything: name lookup, connections, redirects, answer. */
  readonly timeoutMs: number
  /** Applies to the answer as sent and as decoded. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
  /** The most redirects that are followed; absent: three. */
  readonly redirects?: number
  /** Returns the reason why an address, the first one or that of a redirect, must not be requested; null if it may be. */
  readonly refuse?: (url: URL) => string | null
  /** The answer may be compressed. */
  readonly compressed?: boolean
}

export interface SafeResponse {
  readonly status: number
  readonly contentType: string | null
  /** The wait that the answer asks for, if any. */
  readonly retryAfterSeconds?: number
  /** The address after the last redirect. */
  readonly url: string
  readonly bytes: Buffer
  /** The bytes, read as UTF-8. */
  readonly text: string
}

export interface SafeFetchParts {
  readonly clock: Clock
  /** Hosts as `host` or `host:port` that may have private addresses and be spoken to without TLS. */
  readonly trustedHosts: readonly string[]
  /** The name of the setting that lists them, for refusals to mention. Null if there is none. */
  readonly trustedBy: string | null
  /** Allows http without TLS to the open internet. */
  readonly plainHttp?: boolean
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** Absent: the variables of this process, which the runtime reads for requests to providers. */
  readonly proxyOf?: ProxyOf
  /**
   * Maps a checked address to the one that is connected to, for test networks that stand in for the internet; absent: the address itself.
   */
  readonly dial?: (address: string, port: number) => { readonly address: string; readonly port: number }
}

/** Throws UnsafeRequest, or `provider_overloaded` if this machine has no connection left. */
export type SafeFetch = (request: SafeRequest) => Promise<SafeResponse>

const HOPS_MAX = 3

export const createSafeFetch = ({
  clock,
  trustedHosts,
  trustedBy,
  plainHttp = false,
  resolve = resolveByDns,
  proxyOf = processProxy,
  dial = (address, port) => ({ address, port }),
}: SafeFetchParts): SafeFetch => {
  const rules: Rules = { isTrusted: readTrustedHosts(trustedHosts), trustedBy, plainHttp }
  return async ({ url, headers, body, method = 'POST', timeoutMs, maxBytes, signal, redirects = HOPS_MAX, refuse, compressed = false }) => {
    const connection = new AbortController()
    const leave = (): void => connection.abort()
    if (signal?.aborted === true) leave()
    signal?.addEventListener('abort', leave, { once: true })
    let cancelDeadline: (() => void) | undefined
    const late = new Promise<never>((_, reject) => {
      cancelDeadline = clock.after(timeoutMs, () => {
        connection.abort()
        reject(new UnsafeRequest(`no answer within ${timeoutMs} ms`, 'connection'))
      })
    })
    const wayTo = async (to: URL): Promise<Way> => {
      const proxy = proxyOf(to)
      if (proxy === null) return directWay(to, dial(await checkedAddress(to, rules, resolve), portOf(to)))
      await checkKnownAddresses(to, rules, resolve, clock)
      return throughProxy(to, proxy, connection.signal)
    }
    const hops = async (): Promise<SafeResponse> => {
      let step: Hop = { url: checkedUrl(url, rules), method: body === null ? 'GET' : method, headers, body: body ?? '' }
      for (let hop = 0; ; hop += 1) {
        const refusal = refuse?.(step.url) ?? null
        if (refusal !== null) throw new UnsafeRequest(refusal, 'policy')
        const way = await wayTo(step.url)
        const sending = { maxBytes, compressed, clock, signal: connection.signal }
        const { response, location } = await send(step, way, sending).finally(way.close)
        if (location === null) return response
        if (hop === redirects) throw new UnsafeRequest(`more than ${redirects} redirects`, 'redirects')
        const next = redirected(step, response.status, checkedUrl(new URL(location, step.url).href, rules))
        if (next.method !== 'GET' && !isSameHost(step.url, next.url))
          throw new UnsafeRequest('a redirect of what was sent to another host', 'redirects')
        step = next
      }
    }
    try {
      return await Promise.race([hops(), late])
    } catch (thrown) {
      if (thrown instanceof UnsafeRequest) throw thrown
      if (thrown instanceof NoTunnel) throw new UnsafeRequest(thrown.message, 'connection', { cause: thrown })
      const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : null
      if (isOwnLimit(code)) throw noConnectionLeft(thrown)
      throw new UnsafeRequest(code ?? 'the connection failed', 'connection', { cause: thrown })
    } finally {
      cancelDeadline?.()
      signal?.removeEventListener('abort', leave)
    }
  }
}

interface Hop {
  readonly url: URL
  readonly method: 'POST' | 'PUT' | 'GET'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

interface Rules {
  readonly isTrusted: IsTrustedHost
  readonly trustedBy: string | null
  readonly plainHttp: boolean
}

const checkedUrl = (text: string, rules: Rules): URL => {
  const { trustedBy, plainHttp } = rules
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UnsafeRequest(plainHttp ? 'not an http or https address' : 'not an https address')
  if (url.username !== '' || url.password !== '') throw new UnsafeRequest('an address with credentials')
  if (rules.isTrusted(url)) return url
  const only = trustedBy === null ? 'are not open' : `are for hosts in ${trustedBy} only`
  if (url.protocol !== 'https:' && !plainHttp) throw new UnsafeRequest(`http is for hosts in ${trustedBy} only`)
  if (url.port !== '') throw new UnsafeRequest(`ports but ${plainHttp ? '80 and ' : ''}443 ${only}`)
  return url
}

/** Every address must be public, so that the name's owner cannot choose which of them is used. */
const checkedAddress = async (url: URL, rules: Rules, resolve: (host: string) => Promise<readonly string[]>): Promise<string> => {
  const host = bareHost(url.hostname)
  const addresses = isLiteral(host) ? [host] : await resolve(host)
  const [first] = addresses
  if (first === undefined) throw new UnsafeRequest('the name has no address')
  if (!rules.isTrusted(url) && !addresses.every(isPublicAddress)) throw notPublic(rules)
  return first
}

/**
 * For an address behind a proxy. Many networks that need one look up no public names themselves, so a name without an answer in time is held
 * to its spelling.
 */
const checkKnownAddresses = async (
  url: URL,
  rules: Rules,
  resolve: (host: string) => Promise<readonly string[]>,
  clock: Clock,
): Promise<void> => {
  if (rules.isTrusted(url)) return
  const host = bareHost(url.hostname)
  const addresses = isLiteral(host) ? [host] : await within(clock, LOOKUP_MS, resolve(host))
  if (!addresses.every(isPublicAddress) || (addresses.length === 0 && isPrivateName(host))) throw notPublic(rules)
}

const LOOKUP_MS = 1000

/** None if the lookup fails or takes longer. */
const within = async (clock: Clock, ms: number, lookup: Promise<readonly string[]>): Promise<readonly string[]> => {
  let cancel: (() => void) | undefined
  const late = new Promise<readonly string[]>((resolve) => (cancel = clock.after(ms, () => resolve([]))))
  const found = await Promise.race([lookup.catch(() => []), late])
  cancel?.()
  return found
}

const isLiteral = (host: string): boolean => parseIpv4(host) !== null || parseIpv6(host) !== null

const notPublic = ({ trustedBy }: Rules): UnsafeRequest =>
  new UnsafeRequest(`the address is not of the open internet${trustedBy === null ? '' : `; its host is not in ${trustedBy}`}`)

const resolveByDns = async (host: string): Promise<readonly string[]> =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

/** Connects to the checked address, whatever the name resolves to by now. */
const directWay = (url: URL, { address, port }: { readonly address: string; readonly port: number }): Way => {
  const family = address.includes(':') ? 6 : 4
  return {
    scheme: url.protocol === 'https:' ? 'https' : 'http',
    options: {
      host: bareHost(url.hostname),
      port,
      path: `${url.pathname}${url.search}`,
      lookup: (_host, options, done) => (options.all === true ? done(null, [{ address, family }]) : done(null, address, family)),
    },
    headers: {},
    close: () => {},
  }
}

interface Sending {
  readonly maxBytes: number
  readonly compressed: boolean
  readonly signal: AbortSignal
  readonly clock: Pick<Clock, 'now'>
}

const send = (
  { url, method, headers, body }: Hop,
  way: Way,
  { maxBytes, compressed, signal, clock }: Sending,
): Promise<{ response: SafeResponse; location: string | null }> =>
  new Promise((resolve, reject) => {
    // Loaded on first use: few services send such requests, and both modules take long to load.
    const client = process.getBuiltinModule(`node:${way.scheme}`)
    const request = client.request(
      {
        ...way.options,
        method,
        headers: {
          ...headers,
          ...way.headers,
          host: url.host,
          'accept-encoding': compressed ? 'gzip, deflate, br, zstd' : 'identity',
          ...(method !== 'GET' ? { 'content-length': String(Buffer.byteLength(body)) } : {}),
        },
        signal,
      },
      (message) => {
        const status = message.statusCode ?? 0
        const { location } = message.headers
        if (REDIRECTS.has(status) && location !== undefined) {
          message.destroy()
          resolve({ response: responseOf(status, null, url, Buffer.alloc(0)), location })
          return
        }
        const type = message.headers['content-type'] ?? null
        const reported = status === 429 || status >= 500 ? message.headers['retry-after'] : undefined
        const wait = reported === undefined ? undefined : retryHint(new Headers({ 'retry-after': reported }), clock.now())
        readAnswer(message, compressed, maxBytes).then(
          (bytes) => resolve({ response: responseOf(status, type, url, bytes, wait), location: null }),
          reject,
        )
      },
    )
    request.on('error', reject)
    request.end(method === 'GET' ? undefined : body)
  })

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Follows browsers: only 307 and 308 keep method and body. For another host, or the same one in plain text after TLS, all headers of the
 * first request but the content type are removed.
 */
const redirected = (from: Hop, status: number, url: URL): Hop => {
  const keeps = status === 307 || status === 308
  const type = from.headers['content-type']
  const headers = isSameHost(from.url, url) ? from.headers : type === undefined ? {} : { 'content-type': type }
  return { url, method: keeps ? from.method : 'GET', headers, body: keeps ? from.body : '' }
}

/** Plain text after TLS counts as another host. */
const isSameHost = (from: URL, to: URL): boolean => to.host === from.host && (to.protocol === from.protocol || to.protocol === 'https:')

const responseOf = (
  status: number,
  contentType: string | null,
  { href }: URL,
  bytes: Buffer,
  retryAfterSeconds?: number,
): SafeResponse => ({
  status,
  contentType,
  url: href,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  bytes,
  get text() {
    return bytes.toString('utf8')
  },
})

const readAnswer = async (message: IncomingMessage, compressed: boolean, maxBytes: number): Promise<Buffer> => {
  const codings: readonly ContentCoding[] | null = compressed ? readCodings(message.headers['content-encoding']) : []
  if (codings === null) {
    message.destroy()
    throw new UnsafeRequest('a content-encoding that was not asked for', 'connection')
  }
  try {
    return Buffer.concat(await Array.fromAsync(decodeBounded(message, codings, maxBytes)))
  } catch (thrown) {
    message.destroy()
    if (thrown instanceof TooManyPieces) throw new UnsafeRequest('an answer in too many pieces', 'connection')
    if (thrown instanceof TooManyBytes) throw new UnsafeRequest(`an answer of more than ${maxBytes} bytes`, 'size')
    throw thrown
  }
}
