/**
 * Checks that a request with a cookie comes from our own pages. Cookies are sent to every port of a host, and a name
 * that somebody else owns may resolve to our address; so a browser must say that the page is ours, and the Host must be
 * one of our names (docs/contract/sign-in.md#own-origin).
 */
import { GatewayError } from '../../errors.ts'
import { parseIpv4, parseIpv6 } from '../../lib/network/ip-address.ts'

export interface OwnOrigin {
  /**
   * True if cookies must be marked `Secure`: the request came by the public address, which is https. Throws
   * `permission_denied` for a Host that is not ours.
   */
  isSecure(headers: Headers): boolean
  /** Throws `permission_denied` if a browser says that a page of another origin sends the request. Programs send no such header. */
  refuseForeign(headers: Headers): void
  /** Throws `permission_denied` unless the request says that it comes from our own page. */
  requireOwn(headers: Headers): void
}

/** `host` is the address to listen on; `publicUrl` is the address under which people reach the service. */
export const createOwnOrigin = ({ host, publicUrl }: { host: string; publicUrl: string | undefined }): OwnOrigin => {
  const known = publicUrl === undefined ? null : new URL(publicUrl)

  const isPublic = (name: string): boolean => known !== null && URL.parse(`${known.protocol}//${name}`)?.host === known.host

  const isOurs = (name: string): boolean => {
    if (isPublic(name)) return true
    const hostname = URL.parse(`http://${name}`)?.hostname
    if (hostname === undefined) return false
    return isLoopback(hostname) || (isAnyAddress(host) ? isAddress(hostname) : hostname === hostnameOf(host))
  }

  const hostOf = (headers: Headers): string => {
    const name = headers.get('host') ?? ''
    if (!isOurs(name)) {
      throw new GatewayError(
        'permission_denied',
        'Host: sign-in is not available under this host name. The operator can set it in server.public_url.',
      )
    }
    return name
  }

  const isOwn = (origin: string, name: string): boolean => {
    if (isPublic(name)) return origin === known?.origin
    return URL.parse(origin)?.host === URL.parse(`http://${name}`)?.host
  }

  const refuseForeign = (headers: Headers): void => {
    const name = hostOf(headers)
    const site = headers.get('sec-fetch-site')
    const origin = headers.get('origin')
    if ((site !== null && site !== 'same-origin') || (origin !== null && !isOwn(origin, name))) {
      throw new GatewayError('permission_denied', 'Sec-Fetch-Site, Origin: only pages of this service may ask with its cookie.')
    }
  }

  return {
    isSecure: (headers) => isPublic(hostOf(headers)) && known?.protocol === 'https:',
    refuseForeign,
    requireOwn(headers) {
      refuseForeign(headers)
      if (headers.has('sec-fetch-site') || headers.has('origin')) return
      throw new GatewayError(
        'permission_denied',
        'Sec-Fetch-Site, Origin: both are missing, so nothing says which page asks. Browsers send them over https and on the machine itself.',
      )
    },
  }
}

const hostnameOf = (host: string): string | undefined => URL.parse(`http://${host.includes(':') ? `[${host}]` : host}`)?.hostname

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || parseIpv4(hostname)?.[0] === 127

/** True for an IP address: unlike a name, nobody else can make it point here. */
const isAddress = (hostname: string): boolean => parseIpv4(hostname) !== null || parseIpv6(hostname.replace(/^\[|\]$/g, '')) !== null
