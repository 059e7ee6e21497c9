/** The caller of a tool, and the turn in which it is called, for tests of a single tool. */
import type { Part } from '../../src/canonical/prompt.ts'
import type { ToolCaller, ToolTurn } from '../../src/tools/tool.ts'

/** If the tool calls a model, nobody answers, unless the test provides it. */
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
  ifStopped: () => {},
  ...more,
})

/** A key that may use no model. */
export const toolCaller = (more: Partial<ToolCaller> = {}): ToolCaller => ({
  workspaceId: 'ws',
  by: { requestId: 'req-1', userId: 'user-1', keyHash: 'key-1' },
  sessionId: null,
  denied: [],
  functions: () => null,
  models: () => [],
  ...more,
})
