/**
 * Decides whether an address is on the public internet. A service that connects to addresses from others must not reach what only it can
 * see: its own machine, its neighbours, the metadata of its cloud (docs/contract/operating.md#addresses).
 */
import { type AddressRange, addressValue, isWithin, rangeOf } from './address-ranges.ts'

/** IANA's special-purpose registries, and all of IPv6 outside of the public internet (2000::/3), as `base/bits`. */
const BLOCKED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // A public address at which only Azure machines reach the service that sets them up.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
].map(known)

/** False if the text is not an address. A zone (`%eth0`) names an interface of this machine, so such an address is never public. */
export const isPublicAddress = (text: string): boolean => {
  const address = addressValue(text)
  return address !== null && !BLOCKED.some((range) => isWithin(address, range))
}

function known(text: string): AddressRange {
  const range = rangeOf(text)
  if (range === null) throw new TypeError(`${text} is no range of addresses.`)
  return range
}
