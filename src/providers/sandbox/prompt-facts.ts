/** Reads the facts of a conversation that the sandbox models use. */
import type { Message, Part, Prompt, Tool } from '../../canonical/prompt.ts'
import { wordCount } from './words.ts'

/** The tool results in the last message, with the names of the called tools. */
export const toolResults = ({ messages }: Prompt): { name: string; text: string }[] => {
  const results = (messages.at(-1)?.parts ?? []).filter((part) => part.type === 'tool-result')
  const names = new Map(allParts(messages).flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name]] : [])))
  return results.map(({ callId, text }) => ({ name: names.get(callId) ?? callId, text }))
}

export const toolCallCount = ({ messages }: Prompt): number => allParts(messages).filter(({ type }) => type === 'tool-call').length

/** Describes the received request as JSON: roles and types of parts, names of tools. */
export const describePrompt = ({ messages, tools, toolChoice, outputFormat }: Prompt): string =>
  JSON.stringify({
    messages: messages.map(({ role, parts }) => ({ role, parts: parts.map(({ type }) => type) })),
    tools: tools.map(toolName),
    tool_choice: toolChoice.type === 'tool' ? toolChoice.name : toolChoice.type,
    output_format: outputFormat.type,
  })

/**
 * Counts the words of all texts, of the arguments and results of tools, and of the descriptions of tools; media and the provider's own
 * tools count nothing.
 */
export const inputTokenCount = ({ messages, tools }: Prompt): number =>
  [...allParts(messages).map(textOf), ...tools.map(toolText)].reduce((sum, text) => sum + wordCount(text), 0)

const allParts = (messages: readonly Message[]): Part[] => messages.flatMap(({ parts }) => parts)

const textOf = (part: Part): string => {
  if (part.type === 'tool-call') return `${part.name} ${part.arguments}`
  return 'text' in part ? part.text : ''
}

const toolName = (tool: Tool): string => (tool.type === 'function' ? tool.name : tool.kind)

const toolText = (tool: Tool): string => (tool.type === 'function' ? `${tool.name} ${tool.description ?? ''}` : '')
