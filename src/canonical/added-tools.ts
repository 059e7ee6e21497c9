/**
 * Parts of a conversation that add tools: items of a Responses input (docs/contract/responses.md#input), and messages, from which SGLang
 * reads tools.
 */
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

/** Returns true if the text of messages has a word for tools. */
export const addsToolsByMessages = (json: string): Steps<boolean> => lookForName(TOOLS, json)

const TOOLS = /"tools"/

export const toolsOfMessage = (message: unknown): readonly unknown[] =>
  isObject(message) && Array.isArray(message['tools']) ? (message['tools'] as unknown[]) : NONE

const NONE: readonly never[] = []

/** `messages`: the parsed member of the body. */
export const toolsOfMessages = (messages: unknown): readonly AddedTool[] =>
  Array.isArray(messages)
    ? (messages as unknown[]).flatMap((message, position) =>
        toolsOfMessage(message).map((raw, index) => ({ at: `messages[${position}].tools[${index}]`, raw })),
      )
    : NONE
