/** Pictures and files that a tool returned, for dialects whose results hold text only: they follow, and say whose they are. */
import type { Part } from '../canonical/prompt.ts'

type ToolResult = Extract<Part, { type: 'tool-result' }>

/** Names of the tools that were called, by the ids of the calls. */
export type ToolNames = ReadonlyMap<string, string>

/** A result of media alone would be empty: it says that they follow. */
export const withWords = (result: ToolResult, tools: ToolNames): ToolResult =>
  result.text.trim() !== '' || (result.media ?? []).length === 0 ? result : { ...result, text: announced(tools.get(result.callId)) }

/** The text of a result whose media follow. */
export const announced = (tool: string | undefined): string => `What ${named(tool)} returned follows in the next message.`

/** The text that stands before the media. */
export const introduced = (tool: string | undefined): string => `Returned by ${named(tool)}:`

const named = (tool: string | undefined): string => (tool === undefined ? 'the tool' : `the tool ${tool}`)
