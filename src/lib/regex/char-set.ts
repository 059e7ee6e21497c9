/** Sets of UTF-16 units, as sorted ranges that neither touch nor overlap. */
export type CharSet = readonly (readonly [first: number, last: number])[]

export const LAST_UNIT = 0xffff

export const charSet = (ranges: Iterable<readonly [number, number]>): CharSet => {
  const sorted = [...ranges].sort(([left], [right]) => left - right)
  const set: [number, number][] = []
  for (const [first, last] of sorted) {
    const before = set.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else set.push([first, last])
  }
  return set
}

export const complement = (set: CharSet): CharSet => {
  const rest: [number, number][] = []
  let next = 0
  for (const [first, last] of set) {
    if (first > next) rest.push([next, first - 1])
    next = last + 1
  }
  return next <= LAST_UNIT ? [...rest, [next, LAST_UNIT]] : rest
}

const unitsOf = (characters: string): CharSet =>
  charSet([...Array(characters.length).keys()].map((at) => [characters.charCodeAt(at), characters.charCodeAt(at)] as const))

export const DIGITS: CharSet = [[48, 57]]
export const WORD: CharSet = charSet([
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
])
export const SPACE: CharSet = unitsOf(
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
)
export const LINE_ENDS: CharSet = unitsOf('\n\r\u2028\u2029')

/**
 * The set with both cases of every letter. Patterns rarely contain letters beyond Latin, so going through them one by one is fast enough.
 */
export const bothCases = (set: CharSet): CharSet => {
  const more: (readonly [number, number])[] = [...set]
  for (const [first, last] of set) {
    // A complement already contains both cases, except for the few units that it leaves out.
    for (let unit = first; unit <= Math.min(last, LAST_CASED); unit += 1) {
      const character = String.fromCharCode(unit)
      for (const other of [character.toLowerCase(), character.toUpperCase()]) {
        if (other.length === 1 && other !== character) more.push([other.charCodeAt(0), other.charCodeAt(0)])
      }
    }
  }
  return charSet(more)
}

/** Latin, Greek, Cyrillic, Armenian. */
const LAST_CASED = 0x587
