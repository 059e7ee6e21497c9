/**
 * Finds the address of the client that sent a request. Behind a proxy every connection comes from the proxy, and a header names the
 * client. Anybody can send that header, so it counts only as far as the operator's own proxies wrote it.
 */
import { type AddressRange, addressValue, isWithin } from '../../lib/network/address-ranges.ts'

/** No chain of proxies is longer than this. */
const HOPS_MAX = 20

/**
 * `peer` is the other end of the connection, and `forwarded` the header `X-Forwarded-For`, to which each proxy
 * appends the address that it serves. Returns the last address that is not a proxy in `trusted`; if the header ends
 * or contains something else before that, the last proxy's address.
 */
export const clientAddress = (peer: string, forwarded: string | null, trusted: readonly AddressRange[]): string => {
  if (trusted.length === 0 || forwarded === null || !isTrusted(peer, trusted)) return peer
  let known = peer
  for (const hop of forwarded.split(',').slice(-HOPS_MAX).toReversed()) {
    const address = withoutPort(hop.trim())
    if (addressValue(address) === null) return known
    known = address
    if (!isTrusted(address, trusted)) return known
  }
  return known
}

const isTrusted = (address: string, trusted: readonly AddressRange[]): boolean => {
  const value = addressValue(address)
  return value !== null && trusted.some((range) => isWithin(value, range))
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string => /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
