/** Domains that a client allows or excludes: `example.com` is that name and all names below it, `example.com/docs` the part of them below a path. */

import { invalidField } from '../contract/validate.ts'

/** As they are compared. Throws `invalid_request` that names the one at `path` which is none. */
export const normalDomains = (texts: readonly string[], path: string): readonly string[] =>
  texts.map((text, index) => {
    const domain = normalDomain(text)
    if (domain === null) throw invalidField(`${path}[${index}]`, 'Use a domain such as example.com.')
    return domain
  })

/** As it is compared; null for a text that is no domain. Schemes and a leading `*.` are left out, other scripts become ASCII. */
export const normalDomain = (text: string): string | null => {
  const written = text.trim().replace(/^(?:https?:\/\/)?(?:\*\.)?/i, '')
  const address = `http://${written}`
  if (written === '' || !URL.canParse(address)) return null
  const { hostname, pathname, username, search, hash } = new URL(address)
  if (hostname === '' || username !== '' || search !== '' || hash !== '') return null
  return hostname.replace(/\.$/, '') + (pathname === '/' ? '' : pathname.replace(/\/$/, ''))
}

/** Says whether an address is in one of the domains, which are normal. */
export const isInDomains = ({ hostname, pathname }: URL, domains: readonly string[]): boolean =>
  domains.some((domain) => {
    const slash = domain.indexOf('/')
    const host = slash < 0 ? domain : domain.slice(0, slash)
    const path = slash < 0 ? '' : domain.slice(slash)
    return isBelow(hostname.replace(/\.$/, ''), host) && (path === '' || `${pathname}/`.startsWith(`${path}/`))
  })

/** As `isInDomains`, for domains that are not to be reached: also by a path that a server reads as one of theirs. */
export const isExcludedBy = (url: URL, domains: readonly string[]): boolean =>
  isInDomains(url, domains) || (domains.length > 0 && isInDomains(asServersRead(url), domains))

/** Without escapes, doubled slashes and the steps that they hide. */
const asServersRead = ({ hostname, pathname }: URL): URL => {
  const url = new URL(`http://${hostname}`)
  url.pathname = decoded(pathname).replace(/[/\\]+/g, '/')
  return url
}

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // no escape at all
  }
}

/** On the border of a label: `notexample.com` is not below `example.com`. */
const isBelow = (hostname: string, domain: string): boolean => hostname === domain || hostname.endsWith(`.${domain}`)
