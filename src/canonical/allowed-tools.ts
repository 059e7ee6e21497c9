/**
 * OpenAI's `tool_choice` of `allowed_tools` forbids some tools and leaves the list of tools as it is, so that its prompt cache stays valid.
 * A provider without that choice is given only the allowed tools.
 */
import type { Prompt, Tool } from './prompt.ts'

export const withoutBarred = (prompt: Prompt): Prompt =>
  prompt.tools.some(isBarred) ? { ...prompt, tools: prompt.tools.filter((tool) => !isBarred(tool)) } : prompt

/**
 * Says whether the list has both tools of the client that may be called and tools that may not. A choice among no tools is refused, and a
 * provider's own tool may have no name elsewhere.
 */
export const allowsSome = (tools: readonly Tool[]): boolean =>
  tools.some(isBarred) && tools.some((tool) => tool.type !== 'provider' && !isBarred(tool))

export const isBarred = (tool: Tool): boolean => tool.type !== 'provider' && tool.barred === true
