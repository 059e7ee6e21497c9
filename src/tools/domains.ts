/**
 * Domains that a client allows or excludes: `example.com` means that name and all its subdomains, `example.com/docs` their pages
 * below that path.
 */

import { invalidField } from '../contract/validate.ts'
import { decodedOrSame } from '../lib/text/percent-text.ts'

/** Normalises domains for comparison. Throws `invalid_request` naming the invalid one at `path`. */
export const normalDomains = (texts: readonly string[], path: string): readonly string[] =>
  texts.map((text, index) => {
    const domain = normalDomain(text)
    if (domain === null) throw invalidField(`${path}[${index}]`, 'Use a domain such as example.com.')
    return domain
  })

/**
 * Normalises a domain for comparison; returns null if the text is not a domain. Schemes and a leading `*.` are removed, and other
 * scripts are converted to ASCII.
 */
export const normalDomain = (text: string): string | null => {
  const written = text.trim().replace(/^(?:https?:\/\/)?(?:\*\.)?/i, '')
  const address = `http://${written}`
  if (written === '' || !URL.canParse(address)) return null
  const { hostname, pathname, username, search, hash } = new URL(address)
  if (hostname === '' || username !== '' || search !== '' || hash !== '') return null
  return hostname.replace(/\.$/, '') + (pathname === '/' ? '' : pathname.replace(/\/$/, ''))
}

/** Returns true if the URL is in one of the normalised domains. */
export const isInDomains = ({ hostname, pathname }: URL, domains: readonly string[]): boolean =>
  domains.some((domain) => {
    const slash = domain.indexOf('/')
    const host = slash < 0 ? domain : domain.slice(0, slash)
    const path = slash < 0 ? '' : domain.slice(slash)
    return isBelow(hostname.replace(/\.$/, ''), host) && (path === '' || `${pathname}/`.startsWith(`${path}/`))
  })

/** Like `isInDomains`, for excluded domains: it also matches a path that a server would interpret as one of theirs. */
export const isExcludedBy = (url: URL, domains: readonly string[]): boolean =>
  isInDomains(url, domains) || (domains.length > 0 && isInDomains(asServersRead(url), domains))

/** Resolves escapes, doubled slashes and the path steps that they hide. */
const asServersRead = ({ hostname, pathname }: URL): URL => {
  const url = new URL(`http://${hostname}`)
  url.pathname = decodedOrSame(pathname).replace(/[/\\]+/g, '/')
  return url
}

/** Compares at label boundaries: `notexample.com` is not below `example.com`. */
const isBelow = (hostname: string, domain: string): boolean => hostname === domain || hostname.endsWith(`.${domain}`)
