/**
 * Claude's shell, which clients of Messages run themselves. Claude knows it by heart; any other model is offered a function of its
 * name, whose calls are the same (docs/contract/tools.md#commands).
 */
import type { JsonObject } from '../lib/json.ts'
import type { FunctionTool } from './prompt.ts'

export const CLAUDES_BASH = /^bash_\d{8}$/

/** `declared`: the tool as Claude's own API takes it. */
export const claudesBash = (declared: JsonObject = { type: 'bash_20250124', name: 'bash' }): FunctionTool => ({
  type: 'function',
  name: 'bash',
  description: 'Runs a line of shell and returns its output.',
  parameters: BASH_PARAMETERS,
  knownToClaude: declared,
})

export const BASH_PARAMETERS = {
  type: 'object',
  properties: {
    command: { type: 'string', description: 'The line of shell to run.' },
    restart: { type: 'boolean', description: 'Starts a fresh shell.' },
  },
  additionalProperties: false,
}
