/**
 * The two functions by which a model reaches tools that it was not shown. Their text is constant, so that a provider's prompt
 * cache stays valid for a whole conversation, whatever was found in it.
 */
import type { FunctionTool } from '../../canonical/prompt.ts'

export const SEARCH_WRAPPER = 'service_search_tools'
/** The name of the search in conversations from clients that keep only the members they know. */
export const PLAIN_SEARCH = 'service_tool_search'
export const CALL_WRAPPER = 'service_call_tool'

const MAX_RESULTS = { type: 'integer', description: 'How many tools to return at most.' }

export const SEARCH_BY_WORDS: FunctionTool = {
  type: 'function',
  name: SEARCH_WRAPPER,
  description: `Finds tools that are not in your list. Returns their names, descriptions and parameters. Call what you found with ${CALL_WRAPPER}.`,
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'Words that say what the tool shall do.' }, max_results: MAX_RESULTS },
    required: ['query'],
    additionalProperties: false,
  },
}

export const SEARCH_BY_PATTERN: FunctionTool = {
  type: 'function',
  name: SEARCH_WRAPPER,
  description: `Finds tools that are not in your list. Returns their names, descriptions and parameters. Call what you found with ${CALL_WRAPPER}.`,
  parameters: {
    type: 'object',
    properties: {
      pattern: {
        type: 'string',
        description:
          'A regular expression that is looked for in the names, descriptions and arguments of the tools, whatever the case. Look-around and back-references are not known.',
      },
      max_results: MAX_RESULTS,
    },
    required: ['pattern'],
    additionalProperties: false,
  },
}

export const CALL_TOOL: FunctionTool = {
  type: 'function',
  name: CALL_WRAPPER,
  description: 'Calls a tool that is not in your list. The arguments must match the parameters that the search returned for it.',
  parameters: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'The name of the tool, as the search returned it.' },
      arguments: { type: 'object', description: 'The arguments of the tool.' },
    },
    required: ['name', 'arguments'],
    additionalProperties: false,
  },
}
