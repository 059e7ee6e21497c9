/**
 * The proxies that the environment names for outgoing requests. The rules are those of the runtime's own `fetch`, which reads the same
 * variables for requests to providers, so that one setting means the same to all requests.
 */
import { type AddressRange, addressValue, isWithin, rangeOf } from './address-ranges.ts'
import { portOf } from './port-of.ts'
import { bareHost } from './trusted-hosts.ts'

/** The address of the proxy through which a request goes; null if it goes out directly. */
export type ProxyOf = (url: URL) => string | null

export const outgoingProxy = (env: Readonly<Record<string, string | undefined>>): ProxyOf => {
  const value = (name: string): string | null => env[name] || env[name.toUpperCase()] || null
  const proxies: Readonly<Record<string, string | null>> = {
    'https:': value('https_proxy') ?? value('all_proxy'),
    'http:': value('http_proxy') ?? value('all_proxy'),
  }
  const exceptions = (value('no_proxy') ?? '')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(readException)
  return (url) => {
    const proxy = proxies[url.protocol] ?? null
    if (proxy === null || exceptions.some((covers) => covers(url))) return null
    return proxy.includes('://') ? proxy : `http://${proxy}`
  }
}

type Exception = (url: URL) => boolean

/** `*`, a range of addresses, or a name, which covers all names below it; a name or an address may have a port. */
const readException = (entry: string): Exception => {
  if (entry === '*') return () => true
  const range = rangeOf(entry)
  if (range !== null) return ({ hostname }) => isInRange(hostname, range)
  const [, host = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
  const name = bareHost(host)
    .replace(/^\*?\./, '')
    .replace(/\.$/, '')
  return (url) => {
    if (port !== undefined && Number(port) !== portOf(url)) return false
    const asked = bareHost(url.hostname).replace(/\.$/, '')
    return asked === name || asked.endsWith(`.${name}`)
  }
}

const isInRange = (hostname: string, range: AddressRange): boolean => {
  const address = addressValue(bareHost(hostname))
  return address !== null && isWithin(address, range)
}

/** The runtime reads the variables of this process, at its start, so no other environment would agree with it. */
export const processProxy: ProxyOf = outgoingProxy(process.env)
