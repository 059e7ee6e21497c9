/**
 * A search over functions that the client withholds with `defer_loading`; from then on the model may call what it found
 * (docs/contract/tools.md#tool-search).
 */
import { invalidField } from '../contract/validate.ts'
import type { FunctionTool } from '../canonical/prompt.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { Work } from '../lib/work.ts'
import type { CatalogueMemory } from './deferred/catalogue-memory.ts'
import { createCatalogue } from './deferred/catalogue.ts'
import { createSearchAgain, DEFAULT_RESULTS, definitionOf, findTools, MAX_RESULTS, searchWork } from './deferred/search-tools.ts'
import { searchParameters } from './deferred/wrappers.ts'
import type { AskedTool, MakeTool, Tool, ToolResult } from './tool.ts'

export const toolSearchTool =
  (memory: CatalogueMemory): MakeTool =>
  (asked, { workspaceId, withheld }) => {
    checkOptions(asked)
    const tools = withheld?.tools ?? []
    const search = {
      by: asked.askedAs.includes('bm25') ? 'words' : 'pattern',
      maxResults: maxResultsOf(asked),
      tools,
      search: memory.searchOf(workspaceId, createCatalogue(tools)),
    } as const
    const once = (input: JsonObject, work: Work): ToolResult => {
      const found = findTools(input, search, work)
      if ('fault' in found) return found
      withheld?.load(found.found.map(({ name }) => name))
      return resultOf(found.found, asked)
    }
    return { ...offered(search.by), run: (input) => Promise.resolve(once(input, searchWork())), again: createSearchAgain(once) }
  }

/** The result contains only names and descriptions, because the tools themselves are in the model's list from the next turn on. */
const resultOf = (found: readonly FunctionTool[], { askedAs }: AskedTool): ToolResult => ({
  fault: null,
  value: {
    tools: found.map(({ name, description }) => ({ name, description })),
    // OpenAI's item shows the whole definitions.
    ...(askedAs === 'tool_search'
      ? { definitions: found.map((tool) => ({ type: 'function', ...definitionOf(tool), defer_loading: true })) }
      : {}),
  },
})

const maxResultsOf = ({ parameters, at }: AskedTool): number => {
  const asked = parameters['max_results'] ?? DEFAULT_RESULTS
  if (typeof asked === 'number' && Number.isInteger(asked) && asked >= 1 && asked <= MAX_RESULTS) return asked
  throw invalidField(`${at}.parameters.max_results`, `Use a whole number from 1 to ${MAX_RESULTS}.`)
}

const checkOptions = ({ parameters, at, askedAs }: AskedTool): void => {
  if (parameters['defer_loading'] === true)
    throw invalidField(`${at}.defer_loading`, `${askedAs} must not be deferred: nothing else finds the tools that are.`)
}

const offered = (by: 'words' | 'pattern'): Pick<Tool, 'description' | 'parameters'> => ({
  description: `Finds tools that are not in your list, by ${by === 'words' ? 'words' : 'a regular expression'}. Those that it finds are in your list from then on.`,
  parameters: searchParameters(by, 'How many tools to find at most.'),
})
