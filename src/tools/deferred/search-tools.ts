/** One search of a model over a catalogue of tools, by words or by a pattern. */
import type { FunctionTool } from '../../canonical/prompt.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { RegexRefused } from '../../lib/regex/parse.ts'
import { createWork, TooMuchWork, type Work } from '../../lib/work.ts'
import { type CatalogueSearch, wordsOf } from '../catalogue-search.ts'
import { failed, type ToolResult } from '../tool.ts'

export interface ToolSearch {
  readonly by: 'words' | 'pattern'
  /** As many as the client allows. */
  readonly maxResults: number
  readonly tools: readonly FunctionTool[]
  /** Made when it is first used. */
  readonly search: () => CatalogueSearch<FunctionTool>
}

export const MAX_RESULTS = 50
export const DEFAULT_RESULTS = 5

export interface FoundTools {
  /** The best first. */
  readonly found: readonly FunctionTool[]
  /** How many match in all. */
  readonly total: number
  /** The query that the model searched for. */
  readonly sought: string
}

/** The result of a failed search is what the model reads. */
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

/** Steps that one search may take: about a hundred milliseconds, and less than ten for nearly all. */
const SEARCH_STEPS = 10_000_000
/** As many for all the searches of a conversation that comes back as for eight of the slowest. */
const REPLAY_STEPS = 8 * SEARCH_STEPS
/** For each unit of a result that is written, and for each name that is compared. */
const WRITTEN_STEPS = 20
const NAME_STEPS = 200

/** For one search. */
export const searchWork = (): Work => createWork(SEARCH_STEPS)

/**
 * Makes searches again that a conversation brings back, each once for a request, however often the conversation is put together
 * for it: null for those for which no time is left.
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

/** Whole definitions, so that the model can call what it found at once; where nothing is found, names that begin alike. */
export const searchResult = ({ found, total, sought }: FoundTools, tools: readonly FunctionTool[], work: Work): ToolResult => {
  const shown = within(found.map(definitionOf), work)
  if (total === 0) work.left -= NAME_STEPS * tools.length
  const alike = total === 0 ? namesAlike(sought, tools) : []
  return {
    fault: null,
    value: { tools: shown, total, ...(alike.length === 0 ? {} : { names: alike }) },
  }
}

/** A result must fit into the bound of results whole, or a replay could not give the model the same one again. */
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
  // Only the name of a tool that is too large is shown: a call of it is checked all the same.
  return shown.length > 0 || first === undefined ? shown : [{ name: first['name'] ?? '' }]
}

export const definitionOf = ({ name, description, parameters }: FunctionTool): JsonObject => ({
  name,
  description,
  // A request is JSON, and so is every part of it.
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
