/** The form of JSON text without what it says: for checks that need names and kinds of values, and no long text. */
import { JsonTextError, type JsonTree, scanElements, scanTree } from './json-scan.ts'
import type { JsonValue } from './json.ts'
import { LARGE_BYTES, startPace, type Steps } from './steps.ts'

/** Longer strings are read as empty ones: none of them is a name. */
const NAME_MAX = 64

/** It is parsed faster than it is walked through. */
const PARSED_MAX = 32_768

/**
 * The elements of a list, one after the other. In a large one objects and arrays are opened down to `levels` and empty below,
 * long strings are empty, and numbers are 0. Throws JsonTextError.
 */
export function* eachOutlined(list: string, levels: number, take: (element: JsonValue, index: number) => void): Steps<void> {
  const elements = scanElements(list)
  const isStep = startPace()
  for (const [index, { start, end }] of elements.entries()) {
    if (end - start > LARGE_BYTES) yield* outlinedInSteps(list, scanTree(list, levels, start), (element) => take(element, index))
    else take(end - start > PARSED_MAX ? outlined(list, scanTree(list, levels, start)) : parsed(list.slice(start, end)), index)
    if (isStep(end - start)) yield
  }
}

/** One element may have all the parts of a conversation. */
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
  if (first === '"') return end - start > NAME_MAX ? '' : parsed(text.slice(start, end))
  return LITERALS.has(first) ? parsed(text.slice(start, end)) : 0
}

/** The beginnings of true, false and null. */
const LITERALS: ReadonlySet<string> = new Set(['t', 'f', 'n'])

const parsed = (text: string): JsonValue => {
  try {
    return JSON.parse(text) as JsonValue
  } catch (cause) {
    throw new JsonTextError('The body is not valid JSON.', { cause })
  }
}
