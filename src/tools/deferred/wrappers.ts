/**
 * The two functions by which a model reaches tools that it was not shown. Their text is constant, so that a provider's prompt
 * cache stays valid for a whole conversation, whatever was found in it.
 */
import { argumentSchema } from '../../canonical/argument-schema.ts'
import type { FunctionTool } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'

export const SEARCH_WRAPPER = 'service_search_tools'
/** The name of the search in conversations from clients that keep only the members they know. */
export const PLAIN_SEARCH = 'service_tool_search'
export const CALL_WRAPPER = 'service_call_tool'

const SOUGHT = {
  words: { query: { type: 'string', description: 'Words that say what the tool shall do.' } },
  pattern: {
    pattern: {
      type: 'string',
      description:
        'A regular expression that is looked for in the names, descriptions and arguments of the tools, whatever the case. Look-around and back-references are not known.',
    },
  },
} as const

/** `most`: the description of the limit. */
export const searchParameters = (by: keyof typeof SOUGHT, most: string): JsonObject =>
  argumentSchema({ ...SOUGHT[by], max_results: { type: 'integer', description: most } }, Object.keys(SOUGHT[by]))

const searchBy = (by: keyof typeof SOUGHT): FunctionTool => ({
  type: 'function',
  name: SEARCH_WRAPPER,
  description: `Finds tools that are not in your list. Returns their names, descriptions and parameters. Call what you found with ${CALL_WRAPPER}.`,
  parameters: searchParameters(by, 'How many tools to return at most.'),
})

export const SEARCH_BY_WORDS = searchBy('words')
export const SEARCH_BY_PATTERN = searchBy('pattern')

export const CALL_TOOL: FunctionTool = {
  type: 'function',
  name: CALL_WRAPPER,
  description: 'Calls a tool that is not in your list. The arguments must match the parameters that the search returned for it.',
  parameters: argumentSchema({
    name: { type: 'string', description: 'The name of the tool, as the search returned it.' },
    arguments: { type: 'object', description: 'The arguments of the tool.' },
  }),
}
