/** Hosts as an operator lists them, `host` or `host:port`, that may have private addresses. */

export type IsTrustedHost = (url: URL) => boolean

export const trustedHosts = (hosts: readonly string[]): IsTrustedHost => {
  const trusted = new Set(hosts.map((host) => host.toLowerCase()))
  return ({ protocol, hostname, port }) =>
    trusted.has(bareHost(hostname)) || trusted.has(`${hostname.toLowerCase()}:${port || DEFAULT_PORTS[protocol]}`)
}

/** URLs leave these out, and a list may name them. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$/g, '')
