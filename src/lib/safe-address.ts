/**
 * Says whether an address belongs to the open internet. A service that connects where others tell it must not reach what only
 * it can see: its own machine, its neighbours, the metadata of its cloud (docs/contract/operating.md#addresses).
 */
import { parseIpv4, parseIpv6 } from './ip-address.ts'

/** IANA's special-purpose registries; `base/bits`. */
const BLOCKED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
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
].map((range) => rangeOf(range, (text) => bits(parseIpv4(text) ?? [], 8), 32))

const BLOCKED_V6 = [
  '::/128',
  '::1/128',
  // Deprecated IPv4-compatible addresses.
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map((range) => rangeOf(range, (text) => bits(parseIpv6(text) ?? [], 16), 128))

const MAPPED = rangeOf('::ffff:0:0/96', (text) => bits(parseIpv6(text) ?? [], 16), 128)

/** False for what is no address at all. A zone (`%eth0`) names an interface of this machine: never public. */
export const isPublicAddress = (address: string): boolean => {
  const v4 = parseIpv4(address)
  if (v4 !== null) return isPublicV4(bits(v4, 8))
  const v6 = parseIpv6(address)
  if (v6 === null) return false
  const value = bits(v6, 16)
  // The address that it stands for counts.
  if (isWithin(value, MAPPED)) return isPublicV4(value & 0xffffffffn)
  return !BLOCKED_V6.some((range) => isWithin(value, range))
}

const isPublicV4 = (value: bigint): boolean => !BLOCKED_V4.some((range) => isWithin(value, range))

interface AddressRange {
  readonly prefix: bigint
  readonly shift: bigint
}

const isWithin = (value: bigint, { prefix, shift }: AddressRange): boolean => value >> shift === prefix

function rangeOf(range: string, read: (text: string) => bigint, width: number): AddressRange {
  const [base = '', length = ''] = range.split('/')
  const shift = BigInt(width - Number(length))
  return { prefix: read(base) >> shift, shift }
}

function bits(groups: readonly number[], size: number): bigint {
  return groups.reduce((value, group) => (value << BigInt(size)) | BigInt(group), 0n)
}
