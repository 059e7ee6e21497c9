/** Removes the tools that a Responses input adds during a conversation. */
import { ADDS_TOOLS } from '../../canonical/added-tools.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElementsInSteps, editMembers } from '../../lib/json/json-splice.ts'
import { isObject, type JsonChanges, type JsonValue } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'

interface HeldTools {
  /** Replaces the input by one without the added tools. */
  readonly changes: JsonChanges
  /** The paths at which the input added tools. */
  readonly paths: readonly string[]
}

/**
 * Removes the tools that the input adds, for a preset that locks its tools. Tools that a search found stay if the preset offers a
 * search.
 */
export function* withoutAddedTools(body: JsonBody, searches: boolean): Steps<HeldTools> {
  const input = yield* body.parsing('input')
  const raw = body.raw('input')
  if (!Array.isArray(input) || raw === undefined) return { changes: {}, paths: [] }
  const adding = new Set(input.keys().filter((at) => addsTools(input[at], searches)))
  if (adding.size === 0) return { changes: {}, paths: [] }
  const edited = yield* editElementsInSteps(raw, (text, at) => (adding.has(at) ? withoutTools(input[at], text) : text))
  return { changes: { input: edited }, paths: [...adding].map((at) => `input[${at}].tools`) }
}

const addsTools = (item: JsonValue | undefined, searches: boolean): boolean => {
  if (!isObject(item) || !ADDS_TOOLS.has(item['type']) || (searches && item['type'] === 'tool_search_output')) return false
  return Array.isArray(item['tools']) && item['tools'].length > 0
}

/** The result of a search call stays, without its tools, because its call needs a result. */
const withoutTools = (item: JsonValue | undefined, text: string): string | null =>
  isObject(item) && item['type'] === 'tool_search_output' ? editMembers(text, { tools: '[]' }) : null
