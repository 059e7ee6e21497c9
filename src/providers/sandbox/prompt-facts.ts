/** The facts of a conversation that the sandbox models read. */
import type { Message, Part, Prompt, Tool } from '../../canonical/prompt.ts'
import { wordCount } from './words.ts'

/** The results that the last message holds, with the names of the tools that were called. */
export const toolResults = ({ messages }: Prompt): { name: string; text: string }[] => {
  const results = (messages.at(-1)?.parts ?? []).filter((part) => part.type === 'tool-result')
  const names = new Map(allParts(messages).flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name]] : [])))
  return results.map(({ callId, text }) => ({ name: names.get(callId) ?? callId, text }))
}

export const toolCallCount = ({ messages }: Prompt): number => allParts(messages).filter(({ type }) => type === 'tool-call').length

/** The request as it was received, as JSON: roles and kinds of parts, names of tools. */
export const describePrompt = ({ messages, tools, toolChoice, outputFormat }: Prompt): string =>
  JSON.stringify({
    messages: messages.map(({ role, parts }) => ({ role, parts: parts.map(({ type }) => type) })),
    tools: tools.map(toolName),
    tool_choice: toolChoice.type === 'tool' ? toolChoice.name : toolChoice.type,
    output_format: outputFormat.type,
  })

/** Words of all texts, of what tools were called with and returned, and of the descriptions of tools; media and the provider's own tools count nothing. */
export const inputTokenCount = ({ messages, tools }: Prompt): number =>
  [...allParts(messages).map(textOf), ...tools.map(toolText)].reduce((sum, text) => sum + wordCount(text), 0)

const allParts = (messages: readonly Message[]): Part[] => messages.flatMap(({ parts }) => parts)

const textOf = (part: Part): string => {
  if (part.type === 'tool-call') return `${part.name} ${part.arguments}`
  return 'text' in part ? part.text : ''
}

const toolName = (tool: Tool): string => (tool.type === 'function' ? tool.name : tool.kind)

const toolText = (tool: Tool): string => (tool.type === 'function' ? `${tool.name} ${tool.description ?? ''}` : '')
