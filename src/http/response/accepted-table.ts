/** Which form of a list a client asks for: JSON, unless it names another one that it likes as much (RFC 9110, 12.5.1). */

/** The offered media type that is asked for instead of JSON; null for JSON. Of types that are liked alike the first one is taken. */
export const acceptedTable = <Type extends string>(headers: Headers, offered: readonly Type[]): Type | null => {
  const ranges = rangesOf(headers.get('accept') ?? '')
  const [best] = offered
    .flatMap((type) => ranges.filter(({ range }) => range === type).map(({ weight }) => ({ type, weight })))
    .sort((one, other) => other.weight - one.weight)
  return best === undefined || best.weight === 0 || best.weight < weightOfJson(ranges) ? null : best.type
}

interface Range {
  readonly range: string
  readonly weight: number
}

/** A header longer than this is read no further. */
const ACCEPT_MAX = 1024

const rangesOf = (accept: string): readonly Range[] =>
  accept
    .slice(0, ACCEPT_MAX)
    .toLowerCase()
    .split(',')
    .map((entry) => {
      const [range = '', ...parameters] = entry.split(';').map((part) => part.trim())
      const given = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, '') ?? '1'
      return { range, weight: WEIGHT.test(given) ? Number(given) : 0 }
    })

/** People also write `.5`, which the grammar does not have. */
const WEIGHT = /^(?:0?\.\d{1,3}|0\.?|1(?:\.0{0,3})?)$/

/** The most specific range that covers JSON decides. */
const weightOfJson = (ranges: readonly Range[]): number =>
  ['application/json', 'application/*', '*/*'].flatMap((covering) => ranges.filter(({ range }) => range === covering))[0]?.weight ?? 0
