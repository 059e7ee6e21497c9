/**
 * The way out to addresses that are not the operator's own word: https to the open internet only. A name is resolved once,
 * every address of it is checked, and the connection goes to a checked one, so that a name which answers differently the
 * next time gains nothing. Redirects are followed by the same rules, a few of them (reliability.md 4.9).
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'

import type { Clock } from '../lib/clock.ts'
import { parseIpv4, parseIpv6 } from '../lib/ip-address.ts'
import { isPublicAddress } from '../lib/safe-address.ts'

/** The request was not made, or its answer not read; `message` says why, without the answer's own words. */
export class UnsafeRequest extends Error {
  override readonly name = 'UnsafeRequest'
}

export interface SafeRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** In all: names, connections, redirects, answer. */
  readonly timeoutMs: number
  readonly maxBytes: number
}

export interface SafeResponse {
  readonly status: number
  readonly text: string
}

export interface SafeFetchParts {
  readonly clock: Clock
  /** `host` or `host:port`: these may be private, and spoken to without TLS. */
  readonly trustedHosts: readonly string[]
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

/** POSTs. Throws UnsafeRequest. */
export type SafeFetch = (request: SafeRequest) => Promise<SafeResponse>

const HOPS_MAX = 3

export const createSafeFetch = ({ clock, trustedHosts, resolve = resolveByDns }: SafeFetchParts): SafeFetch => {
  const trusted = new Set(trustedHosts.map((host) => host.toLowerCase()))
  return async ({ url, headers, body, timeoutMs, maxBytes }) => {
    const connection = new AbortController()
    let cancelDeadline: (() => void) | undefined
    const late = new Promise<never>((_, reject) => {
      cancelDeadline = clock.after(timeoutMs, () => {
        connection.abort()
        reject(new UnsafeRequest(`no answer within ${timeoutMs} ms`))
      })
    })
    const hops = async (): Promise<SafeResponse> => {
      let step: Hop = { url: checkedUrl(url, trusted), method: 'POST', headers, body }
      for (let hop = 0; ; hop += 1) {
        const address = await checkedAddress(step.url, trusted, resolve)
        const { response, location } = await send(step, address, { maxBytes, signal: connection.signal })
        if (location === null) return response
        if (hop === HOPS_MAX) throw new UnsafeRequest(`more than ${HOPS_MAX} redirects`)
        step = redirected(step, response.status, checkedUrl(new URL(location, step.url).href, trusted))
      }
    }
    try {
      return await Promise.race([hops(), late])
    } catch (thrown) {
      if (thrown instanceof UnsafeRequest) throw thrown
      throw new UnsafeRequest(thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'the connection failed', {
        cause: thrown,
      })
    } finally {
      cancelDeadline?.()
    }
  }
}

interface Hop {
  readonly url: URL
  readonly method: 'POST' | 'GET'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const isTrusted = ({ hostname, host }: URL, trusted: ReadonlySet<string>): boolean =>
  trusted.has(bare(hostname)) || trusted.has(host.toLowerCase())

const bare = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$/g, '')

const checkedUrl = (text: string, trusted: ReadonlySet<string>): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UnsafeRequest('not an https address')
  if (url.username !== '' || url.password !== '') throw new UnsafeRequest('an address with credentials')
  if (isTrusted(url, trusted)) return url
  if (url.protocol !== 'https:') throw new UnsafeRequest('http is for hosts in moderation.trusted_hosts only')
  if (url.port !== '') throw new UnsafeRequest('ports but 443 are for hosts in moderation.trusted_hosts only')
  return url
}

/** Every address must be public: which of them is used is not for the name's owner to choose. */
const checkedAddress = async (
  url: URL,
  trusted: ReadonlySet<string>,
  resolve: (host: string) => Promise<readonly string[]>,
): Promise<string> => {
  const host = bare(url.hostname)
  const isLiteral = parseIpv4(host) !== null || parseIpv6(host) !== null
  const addresses = isLiteral ? [host] : await resolve(host)
  const [first] = addresses
  if (first === undefined) throw new UnsafeRequest('the name has no address')
  if (!isTrusted(url, trusted) && !addresses.every(isPublicAddress)) {
    throw new UnsafeRequest('the address is not of the open internet; its host is not in moderation.trusted_hosts')
  }
  return first
}

const resolveByDns = async (host: string): Promise<readonly string[]> =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

const send = (
  { url, method, headers, body }: Hop,
  address: string,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<{ response: SafeResponse; location: string | null }> =>
  new Promise((resolve, reject) => {
    const family = address.includes(':') ? 6 : 4
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
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
          resolve({ response: { status, text: '' }, location })
          return
        }
        readText(message, maxBytes).then((text) => resolve({ response: { status, text }, location: null }), reject)
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

const readText = async (message: IncomingMessage, maxBytes: number): Promise<string> => {
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
  return Buffer.concat(pieces).toString('utf8')
}
