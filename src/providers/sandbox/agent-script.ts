/** A model that does exactly what the request prescribes, turn by turn, for testing a tool loop. */
import type { Message, Prompt } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import { answer } from './answer.ts'
import type { Block } from './block.ts'
import { toolCallCount } from './prompt-facts.ts'
import { sandboxError } from './sandbox-error.ts'
import type { AgentTurn } from './settings.ts'
import type { SandboxInput, SandboxStep } from './step.ts'

export const agentScript = (input: SandboxInput): Iterable<SandboxStep> => {
  const turn: AgentTurn = input.settings.script?.[turnsOf(input.prompt)] ?? { text: 'The script has no more turns.' }
  const calls = [...(turn.call === undefined ? [] : [turn.call]), ...(turn.calls ?? [])]
  const before = toolCallCount(input.prompt)
  const blocks: Block[] = [
    ...(turn.text === undefined ? [] : [{ type: 'text', text: turn.text } as const]),
    ...calls.map(({ name, arguments: given }, index): Block => ({
      type: 'tool-call',
      id: `call_sandbox_${before + index}`,
      name: functionName(name),
      json: typeof given === 'string' ? given : JSON.stringify(given),
    })),
  ]
  return answer(input, blocks, {
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    ...(turn.fail === undefined ? {} : { ending: { kind: 'fail', error: sandboxError(turn.fail, 'sandbox/agent') } }),
  })
}

/** The number of turns that the model had since the user last spoke; results of tools do not count as words of the user. */
const turnsOf = ({ messages }: Prompt): number => {
  const asked = messages.findLastIndex(saysSomething)
  return messages.slice(asked + 1).filter(({ role }) => role === 'assistant').length
}

const saysSomething = ({ role, parts }: Message): boolean => role === 'user' && parts.some(({ type }) => type !== 'tool-result')

/** To the model, a tool of the service is a function. */
const functionName = (name: string): string => {
  const own = serverToolName(name)
  return own === null ? name : `service_${own}`
}
