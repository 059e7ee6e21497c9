/** Internet addresses as text and as numbers. */

/** Returns four bytes; null unless the text is four decimal numbers without leading zeros, as a URL parser writes them. */
export const parseIpv4 = (text: string): readonly number[] | null => {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null
  return parts.map(Number)
}

/** Returns eight groups of 16 bits; null if the text is not an IPv6 address. Accepts `::` and an IPv4 address at the end, but no zone. */
export const parseIpv6 = (text: string): readonly number[] | null => {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return null
  const front = groupsOf(head, tail === undefined)
  if (tail === undefined) return front?.length === 8 ? front : null
  const back = groupsOf(tail, true)
  if (front === null || back === null || front.length + back.length > 7) return null
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}

const groupsOf = (text: string, last: boolean): number[] | null => {
  if (text === '') return []
  const parts = text.split(':')
  const ipv4 = last && parts.at(-1)?.includes('.') === true ? parseIpv4(parts.pop() ?? '') : undefined
  if (ipv4 === null || !parts.every((part) => /^[0-9A-Fa-f]{1,4}$/.test(part))) return null
  const groups = parts.map((part) => Number.parseInt(part, 16))
  const [a = 0, b = 0, c = 0, d = 0] = ipv4 ?? []
  return ipv4 === undefined ? groups : [...groups, a * 256 + b, c * 256 + d]
}
