/** One search by a model over a catalogue of tools, by words or by a pattern. */
import type { FunctionTool } from '../../canonical/prompt.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { RegexRefused } from '../../lib/regex/parse.ts'
import { createWork, TooMuchWork, type Work } from '../../lib/work.ts'
import { type CatalogueSearch, wordsOf } from '../catalogue-search.ts'
import { failed, type ToolResult } from '../tool.ts'

export interface ToolSearch {
  readonly by: 'words' | 'pattern'
  /** The maximum that the client allows. */
  readonly maxResults: number
  readonly tools: readonly FunctionTool[]
  /** Created on first use. */
  readonly search: () => CatalogueSearch<FunctionTool>
}

export const MAX_RESULTS = 50
export const DEFAULT_RESULTS = 5

export interface FoundTools {
  /** Best first. */
  readonly found: readonly FunctionTool[]
  readonly total: number
  /** The query of the model. */
  readonly sought: string
}

/** Returns the tools found, or, for a failed search, the result that the model reads. */
export const findTools = (input: JsonObject, { by, maxResults, search }: ToolSearch, work: Work): FoundTools | ToolResult => {
  const word = by === 'words' ? 'query' : 'pattern'
  const longest = by === 'words' ? QUERY_MAX : PATTERN_MAX
  const sought = input[word]
  if (typeof sought !== 'string' || sought.trim() === '') return failed('invalid_tool_input', `"${word}" must be a text that is not empty.`)
  if (sought.length > longest)
    return failed(by === 'words' ? 'query_too_long' : 'invalid_tool_input', `"${word}" may have ${longest} characters at most.`)
  const asked = input['max_results']
  const most = typeof asked === 'number' ? Math.min(Math.max(1, Math.trunc(asked)), maxResults) : maxResults
  try {
    const catalogue = search()
    const all =
      by === 'words'
        ? catalogue.byWords(sought, Number.POSITIVE_INFINITY, work)
        : catalogue.byPattern(sought, Number.POSITIVE_INFINITY, work)
    return { found: all.slice(0, most), total: all.length, sought }
  } catch (thrown) {
    if (thrown instanceof RegexRefused) return failed('invalid_tool_input', `The pattern cannot be used: ${thrown.message}.`)
    if (thrown instanceof TooMuchWork) return failed('invalid_tool_input', `The search takes too long; use a simpler ${word}.`)
    throw thrown
  }
}

/** Maximum steps of one search: about a hundred milliseconds, though nearly all searches take less than ten. */
const SEARCH_STEPS = 10_000_000
/** Maximum steps of all repeated searches of a conversation: as many as eight of the slowest searches. */
const REPLAY_STEPS = 8 * SEARCH_STEPS
/** Steps per unit of a result that is written, and per name that is compared. */
const WRITTEN_STEPS = 20
const NAME_STEPS = 200

export const searchWork = (): Work => createWork(SEARCH_STEPS)

/**
 * Repeats the searches in a conversation that comes back, each only once per request, even if the conversation is assembled
 * several times. The function returns null for searches for which no time is left.
 */
export const createSearchAgain = (search: (input: JsonObject, work: Work) => ToolResult): ((input: JsonObject) => ToolResult | null) => {
  const made = new Map<string, ToolResult>()
  let left = REPLAY_STEPS
  return (input) => {
    const key = JSON.stringify(input)
    const before = made.get(key)
    if (before !== undefined) return before
    if (left <= 0) return null
    const work = searchWork()
    const result = search(input, work)
    left -= SEARCH_STEPS - Math.max(0, work.left)
    made.set(key, result)
    return result
  }
}

const QUERY_MAX = 500
const PATTERN_MAX = 200

/** Returns whole definitions, so that the model can call the tools at once; if nothing was found, similar names. */
export const searchResult = ({ found, total, sought }: FoundTools, tools: readonly FunctionTool[], work: Work): ToolResult => {
  const shown = within(found.map(definitionOf), work)
  if (total === 0) work.left -= NAME_STEPS * tools.length
  const alike = total === 0 ? namesAlike(sought, tools) : []
  return {
    fault: null,
    value: { tools: shown, total, ...(alike.length === 0 ? {} : { names: alike }) },
  }
}

/**
 * The maximum length of definitions. A result must fit whole into the limit of results, or a replay could not reproduce it for the
 * model.
 */
const RESULT_UNITS = 48 * 1024

const within = (definitions: readonly JsonObject[], work: Work): readonly JsonObject[] => {
  let units = 0
  const shown = definitions.filter((one) => {
    const { length } = JSON.stringify(one)
    work.left -= WRITTEN_STEPS * length
    units += length
    return units <= RESULT_UNITS
  })
  const [first] = definitions
  // Only the name of a tool that is too large is shown; its calls are still checked.
  return shown.length > 0 || first === undefined ? shown : [{ name: first['name'] ?? '' }]
}

export const definitionOf = ({ name, description, parameters }: FunctionTool): JsonObject => ({
  name,
  description,
  // Safe: a request is JSON, and so is every part of it.
  parameters: parameters as JsonValue,
})

const ALIKE_MAX = 20

const namesAlike = (sought: string, tools: readonly FunctionTool[]): readonly string[] => {
  const [first] = wordsOf(sought)
  if (first === undefined) return []
  return tools
    .filter(({ name }) => {
      const [word = ''] = wordsOf(name)
      return word !== '' && (word.startsWith(first) || first.startsWith(word))
    })
    .slice(0, ALIKE_MAX)
    .map(({ name }) => name)
}
