/**
 * The address of the client that sent a request. Behind a proxy every connection is the proxy's own, and a header names the
 * client. Anybody can write that header, so it counts only as far as the operator's own proxies wrote it.
 */
import { type AddressRange, addressValue, isWithin } from '../lib/address-ranges.ts'

/** No chain of proxies is longer than this. */
const HOPS_MAX = 20

/**
 * `peer`: the other end of the connection, `forwarded`: the header `X-Forwarded-For`, to which each proxy adds whom it serves.
 * The last address that no proxy of `trusted` has counts; where the header ends or holds something else, the last proxy's.
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
