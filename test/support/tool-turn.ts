/** A turn of a conversation in which a tool is called, for tests of one tool. */
import type { Part } from '../../src/canonical/prompt.ts'
import type { ToolTurn } from '../../src/tools/tool.ts'

/** Nobody answers it where it asks a model, but for what is given. */
export const toolTurn = (more: Partial<ToolTurn> = {}, ...parts: readonly Part[]): ToolTurn => ({
  signal: new AbortController().signal,
  prompt: {
    messages: [{ role: 'user', parts }],
    tools: [],
    toolChoice: { type: 'auto' },
    outputFormat: { type: 'text' },
    settings: {},
    otherFields: [],
  },
  model: 'm/one',
  name: 'service_tool',
  ask: () => Promise.reject(new Error('Nobody is asked here.')),
  atEnd: () => {},
  ...more,
})
