/**
 * Handles pictures and files that a tool returned, for dialects whose results hold only text: they follow in the next message, introduced
 * by the name of the tool.
 */
import type { Part } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'

type ToolResult = Extract<Part, { type: 'tool-result' }>

/** Names of the called tools, by the ids of their calls. */
export type ToolNames = ReadonlyMap<string, string>

/** A result that holds only media would be empty, so it gets a text that announces them. */
export const withWords = (result: ToolResult, tools: ToolNames): ToolResult =>
  result.text.trim() !== '' || mediaOfResult(result).length === 0 ? result : { ...result, text: announced(tools.get(result.callId)) }

/** The text of a result whose media follow. */
export const announced = (tool: string | undefined): string => `What ${named(tool)} returned follows in the next message.`

/** The text that stands before the media. */
export const introduced = (tool: string | undefined): string => `Returned by ${named(tool)}:`

const named = (tool: string | undefined): string => (tool === undefined ? 'the tool' : `the tool ${tool}`)
