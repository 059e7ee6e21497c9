import { withoutBarred } from '../../canonical/allowed-tools.ts'
import type { FunctionTool, Prompt } from '../../canonical/prompt.ts'
import type { Block } from './block.ts'
import { toolCallCount } from './prompt-facts.ts'
import { valueFor } from './value-from-schema.ts'

/**
 * One call of each tool that may be called, in one turn, with arguments made from its schema; only of the first tool if the request wants
 * no parallel calls. Ids are numbered through the whole conversation.
 */
export const toolCalls = (prompt: Prompt): Block[] => {
  const before = toolCallCount(prompt)
  const tools = callable(prompt)
  return (prompt.settings.parallelToolCalls?.value === false ? tools.slice(0, 1) : tools).map(({ name, parameters }, index) => ({
    type: 'tool-call',
    id: `call_sandbox_${before + index}`,
    name,
    json: JSON.stringify(valueFor(parameters)),
  }))
}

const callable = (prompt: Prompt): readonly FunctionTool[] => {
  const { tools, toolChoice } = withoutBarred(prompt)
  if (toolChoice.type === 'none') return []
  const functions = tools.filter((tool) => tool.type === 'function')
  return toolChoice.type === 'tool' ? functions.filter(({ name }) => name === toolChoice.name) : functions
}
