/** Pictures and files that a tool returned, for dialects whose results hold text only: they follow, and say whose they are. */
import type { Message, Part } from '../canonical/prompt.ts'

type ToolResult = Extract<Part, { type: 'tool-result' }>

/** Names of the tools that were called, by the ids of the calls. */
export type ToolNames = ReadonlyMap<string, string>

export const toolsByCall = (messages: readonly Message[]): ToolNames =>
  new Map(
    messages.flatMap(({ parts }) => parts.flatMap((part): [string, string][] => (part.type === 'tool-call' ? [[part.id, part.name]] : []))),
  )

/** What stands behind the results, in the user's turn. */
export const mediaOfTool = ({ callId, media = [] }: ToolResult, tools: ToolNames): readonly Part[] =>
  media.length === 0 ? [] : [{ type: 'text', text: `Returned by ${toolOf(callId, tools)}:` }, ...media]

/** A result of media alone would be empty: it says that they follow. */
export const withWords = (result: ToolResult, tools: ToolNames): ToolResult =>
  result.text.trim() !== '' || (result.media ?? []).length === 0
    ? result
    : { ...result, text: `What ${toolOf(result.callId, tools)} returned follows in the next message.` }

const toolOf = (callId: string, tools: ToolNames): string => {
  const name = tools.get(callId)
  return name === undefined ? 'the tool' : `the tool ${name}`
}
