/** The structure of JSON text without its contents: for checks that need names and kinds of values but no long text. */
import { scanElements } from './json-scan.ts'
import { type JsonElement, type JsonSpan, skipString } from './json-skip.ts'
import { type JsonTree, scanTree } from './json-tree.ts'
import type { JsonValue } from './json.ts'
import { LARGE_BYTES, startPace, type Steps } from '../steps.ts'
import { parseJson } from './parse-json.ts'

/** Longer strings are read as empty ones: no name is that long. */
const NAME_MAX = 64

/** Up to this size an element is parsed, which is faster than scanning it. */
const PARSED_MAX = 32_768

/**
 * Visits the elements of a list one by one. In a large element, objects and arrays are opened down to `levels` and empty below that,
 * long strings are empty, and numbers are 0. Throws JsonTextError.
 */
export const eachOutlined = (list: string, levels: number, take: (element: JsonValue, index: number) => void): Steps<void> =>
  eachElementOutlined(list, scanElements(list), levels, take)

/** Like `eachOutlined`, if the positions of the elements in `text` are known already. */
export function* eachElementOutlined(
  text: string,
  elements: readonly (JsonSpan & Partial<JsonElement>)[],
  levels: number,
  take: (element: JsonValue, index: number) => void,
): Steps<void> {
  const isStep = startPace()
  // One search of all strings costs less than one of each.
  const isSound = text.length <= LARGE_BYTES && elements.some(({ isFlat }) => isFlat === true) && !MALFORMED.test(text)
  for (const [index, { start, end, values = 0, isFlat = false }] of elements.entries()) {
    const size = end - start
    if (size > LARGE_BYTES) yield* outlinedInSteps(text, scanTree(text, levels, start), (element) => take(element, index))
    else if (size > PARSED_MAX) take(outlined(text, scanTree(text, levels, start)), index)
    else take((isFlat ? flatOutlined(text, { start, end }, values, isSound) : null) ?? parseJson(text.slice(start, end)), index)
    if (isStep(size)) yield
  }
}

/**
 * Outlines an object that contains no others, as most messages are: its last string, usually the long one, ends where the object does.
 * Returns null if the object must be parsed: a value is not a string, may be malformed, or is short and has an escape. `isSound`: nothing
 * in the text is malformed.
 */
const flatOutlined = (text: string, { start, end }: JsonSpan, values: number, isSound: boolean): JsonValue | null => {
  if (text.charAt(start) !== '{' || values > FLAT_MAX) return null
  const outline: Record<string, JsonValue> = {}
  let at = start
  for (let left = values; left > 0; left -= 1) {
    MEMBER.lastIndex = at
    const name = MEMBER.exec(text)?.[1]
    if (name === undefined || name === '__proto__') return null
    const opening = MEMBER.lastIndex - 1
    const behind = left > 1 ? skipString(text, opening) : end - 1
    if (behind - opening < 2 || text.charAt(behind - 1) !== '"') return null
    const isLong = behind - opening - 2 > NAME_MAX
    const said = isLong && isSound ? '' : text.slice(opening + 1, behind - 1)
    if (isLong ? MALFORMED.test(said) : !PLAIN.test(said)) return null
    outline[name] = isLong ? '' : said
    at = behind
  }
  return outline
}

/** Objects of more members are rare in conversations. */
const FLAT_MAX = 8
/** The character before a member, its name, and the quote that begins its value, without white space between them. */
// oxlint-disable-next-line no-control-regex
const MEMBER = /[{,]"([^"\\\0-\x1f]{0,64})":"/y
// oxlint-disable-next-line no-control-regex
const PLAIN = /^[^\\\0-\x1f]*$/
/** An invalid escape, a character that JSON does not allow in a string, or so many backslashes that only a parser can count them. */
// oxlint-disable-next-line no-control-regex
const MALFORMED = /(?<!\\)\\(?:[^"\\/bfnrtu]|u(?![0-9a-fA-F]{4}))|\\\\\\|[\0-\x1f]/

/** Takes steps, because one element may hold all the parts of a conversation. */
function* outlinedInSteps(list: string, tree: JsonTree, take: (element: JsonValue) => void): Steps<void> {
  yield
  const element = outlined(list, tree)
  yield
  take(element)
}

const outlined = (text: string, { start, end, members, elements }: JsonTree): JsonValue => {
  if (members !== undefined) return Object.fromEntries([...members].map(([name, value]) => [name, outlined(text, value)]))
  if (elements !== undefined) return elements.map((element) => outlined(text, element))
  const first = text.charAt(start)
  if (first === '{') return {}
  if (first === '[') return []
  if (first === '"') return end - start > NAME_MAX ? '' : parseJson(text.slice(start, end))
  return LITERALS.has(first) ? parseJson(text.slice(start, end)) : 0
}

/** The first letters of true, false and null. */
const LITERALS: ReadonlySet<string> = new Set(['t', 'f', 'n'])
