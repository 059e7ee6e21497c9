import type { FunctionTool, Prompt } from '../../canonical/prompt.ts'
import type { Block } from './answer.ts'
import { toolCallCount } from './prompt-facts.ts'
import { valueFor } from './value-from-schema.ts'

/** One call of each tool that may be called, in one turn, with arguments made from its schema. Ids go on through the conversation. */
export const toolCalls = (prompt: Prompt): Block[] => {
  const before = toolCallCount(prompt)
  return callable(prompt).map(({ name, parameters }, index) => ({
    type: 'tool-call',
    id: `call_sandbox_${before + index}`,
    name,
    json: JSON.stringify(valueFor(parameters)),
  }))
}

const callable = ({ tools, toolChoice }: Prompt): readonly FunctionTool[] => {
  if (toolChoice.type === 'none') return []
  const functions = tools.filter((tool) => tool.type === 'function')
  return toolChoice.type === 'tool' ? functions.filter(({ name }) => name === toolChoice.name) : functions
}
