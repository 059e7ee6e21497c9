/** Internet addresses as numbers, and ranges of them as operators write them: `10.0.0.0/8`, `fd00::/8`, or one address. */
import { parseIpv4, parseIpv6 } from './ip-address.ts'

export interface AddressValue {
  readonly bits: bigint
  readonly width: 32 | 128
}

export interface AddressRange {
  /** The bits that all its addresses begin with, shifted down to the low end. */
  readonly prefix: bigint
  readonly shift: bigint
  readonly width: 32 | 128
}

/** Null if the text is not an address. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) becomes the IPv4 address that it stands for. */
export const addressValue = (text: string): AddressValue | null => {
  const v4 = parseIpv4(text)
  if (v4 !== null) return { bits: bitsOf(v4, 8n), width: 32 }
  const v6 = parseIpv6(text)
  if (v6 === null) return null
  const bits = bitsOf(v6, 16n)
  return bits >> 32n === MAPPED ? { bits: bits & 0xffff_ffffn, width: 32 } : { bits, width: 128 }
}

/** Null if the text is not a range. */
export const rangeOf = (text: string): AddressRange | null => {
  const [base = '', length, ...more] = text.split('/')
  const address = addressValue(base)
  if (address === null || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return null
  const { bits, width } = address
  const given = length === undefined ? width : Number(length)
  // The first 96 bits of an IPv4-mapped IPv6 address only mark it as IPv4.
  const ones = width === 32 && base.includes(':') && length !== undefined ? given - 96 : given
  if (ones < 0 || ones > width) return null
  const shift = BigInt(width - ones)
  return { prefix: bits >> shift, shift, width }
}

export const isWithin = ({ bits, width }: AddressValue, range: AddressRange): boolean =>
  width === range.width && bits >> range.shift === range.prefix

const MAPPED = 0xffffn

const bitsOf = (groups: readonly number[], size: bigint): bigint => groups.reduce((bits, group) => (bits << size) | BigInt(group), 0n)
