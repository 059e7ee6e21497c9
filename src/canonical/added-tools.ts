/**
 * Parts of a conversation that add tools: items of a Responses input (docs/contract/responses.md#input), messages, from which SGLang reads
 * tools, and blocks that define a tool for Claude.
 */
import { isObject, listOf } from '../lib/json/json.ts'
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

/** Returns true if the text of messages has a word for blocks that add tools. */
export const addsToolsByBlocks = (json: string): Steps<boolean> => lookForName(ADDITION, json)

const ADDITION = /"tool_addition"/

export const toolsOfMessage = (message: unknown): readonly unknown[] =>
  isObject(message) && Array.isArray(message['tools']) ? (message['tools'] as unknown[]) : NONE

const NONE: readonly never[] = []

/** `messages`: the parsed member of the body. */
export const toolsOfMessages = (messages: unknown): readonly AddedTool[] =>
  listOf(messages).flatMap((message, position) => {
    const at = `messages[${position}]`
    const own = toolsOfMessage(message).map((raw, index) => ({ at: `${at}.tools[${index}]`, raw }))
    return [...own, ...definitionsOfMessage(message).map(({ path, raw }) => ({ at: `${at}.${path}`, raw }))]
  })

interface Definition {
  /** The place of its block among the blocks of the message. */
  readonly block: number
  /** The path of the tool in the message. */
  readonly path: string
  readonly raw: unknown
}

/**
 * The tools that blocks of a message define (Anthropic's beta `inline-tools-2026-09-15`), or that a summary says were defined in what it
 * summarises.
 */
export const definitionsOfMessage = (message: unknown): readonly Definition[] =>
  isObject(message)
    ? listOf(message['content']).flatMap((block, index) =>
        definitionsIn(block, `content[${index}]`).map((found) => ({ block: index, ...found })),
      )
    : NONE

const definitionsIn = (block: unknown, path: string): readonly Omit<Definition, 'block'>[] => {
  if (!isObject(block)) return NONE
  const { type, tool, tool_changes: changes } = block
  if (type === 'compaction') return listOf(changes).flatMap((change, index) => definitionsIn(change, `${path}.tool_changes[${index}]`))
  if (type !== 'tool_addition' || !isObject(tool) || !isObject(tool['definition'])) return NONE
  return [{ path: `${path}.tool.definition`, raw: tool['definition'] }]
}
