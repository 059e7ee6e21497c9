/** Items of a Responses input by which Codex adds tools in the course of a conversation. */
import type { JsonBody } from '../../lib/json-body.ts'
import { editElementsInSteps, editMembers } from '../../lib/json-splice.ts'
import { isObject, type JsonChanges, type JsonValue } from '../../lib/json.ts'
import type { Steps } from '../../lib/steps.ts'

/** Declared tools by the first, finds of its own search by the second. */
export const ADDS_TOOLS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

interface HeldTools {
  /** Puts the input without the tools in place of the one that came. */
  readonly changes: JsonChanges
  /** The paths at which it added any. */
  readonly paths: readonly string[]
}

/** The input adds no tools to those of a preset that locks them. What a search found stays where the preset offers a search. */
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

/** The result of a call stays, for its call. */
const withoutTools = (item: JsonValue | undefined, text: string): string | null =>
  isObject(item) && item['type'] === 'tool_search_output' ? editMembers(text, { tools: '[]' }) : null
