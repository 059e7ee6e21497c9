/** Hosts as an operator lists them, `host` or `host:port`, that may have private addresses. */
import { portOf } from './port-of.ts'

export type IsTrustedHost = (url: URL) => boolean

export const trustedHosts = (hosts: readonly string[]): IsTrustedHost => {
  const trusted = new Set(hosts.map((host) => host.toLowerCase()))
  return (url) => trusted.has(bareHost(url.hostname)) || trusted.has(`${url.hostname.toLowerCase()}:${portOf(url)}`)
}

/** Without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$/g, '')
