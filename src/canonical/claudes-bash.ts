/**
 * Claude's shell tool, which clients of Messages run themselves. Claude is trained on it; any other model is offered a function
 * with the same name and the same calls (docs/contract/tools.md#commands).
 */
import { argumentSchema } from './argument-schema.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { FunctionTool } from './prompt.ts'

export const CLAUDES_BASH = /^bash_\d{8}$/

/** `declared`: the tool in the form that Claude's own API takes. */
export const claudesBash = (declared: JsonObject = { type: 'bash_20250124', name: 'bash' }): FunctionTool => ({
  type: 'function',
  name: 'bash',
  description: 'Runs a line of shell and returns its output.',
  parameters: BASH_PARAMETERS,
  knownToClaude: declared,
})

export const BASH_PARAMETERS = argumentSchema(
  {
    command: { type: 'string', description: 'The line of shell to run.' },
    restart: { type: 'boolean', description: 'Starts a fresh shell.' },
  },
  [],
)
