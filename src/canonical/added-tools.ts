/** Items of a Responses input that add tools during a conversation (docs/contract/responses.md#input). */
import { isObject } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import { lookForName } from '../lib/text/may-name.ts'

/** The first type adds declared tools; the second adds tools that the client's own search found. */
export const ADDS_TOOLS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** Returns true if the text of an input has a word for such an item. */
export const mayAddTools = (json: string): Steps<boolean> => lookForName(MAY_ADD, json)

const MAY_ADD = /"(?:additional_tools|tool_search_output)"/

export interface AddedTool {
  /** The path of the tool in the request. */
  readonly at: string
  readonly raw: unknown
}

/** `input`: the parsed member of the body. */
export const addedTools = (input: unknown): readonly AddedTool[] => {
  if (!Array.isArray(input)) return []
  return (input as unknown[]).flatMap((item, position) => {
    if (!isObject(item) || !ADDS_TOOLS.has(item['type']) || !Array.isArray(item['tools'])) return []
    return (item['tools'] as unknown[]).map((raw, index) => ({ at: `input[${position}].tools[${index}]`, raw }))
  })
}
