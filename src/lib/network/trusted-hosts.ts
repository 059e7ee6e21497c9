/** Hosts as an operator lists them, `host` or `host:port`, that may have private addresses. */

export type IsTrustedHost = (url: URL) => boolean

export const trustedHosts = (hosts: readonly string[]): IsTrustedHost => {
  const trusted = new Set(hosts.map((host) => host.toLowerCase()))
  return ({ hostname, host }) => trusted.has(bareHost(hostname)) || trusted.has(host.toLowerCase())
}

/** Without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$/g, '')
