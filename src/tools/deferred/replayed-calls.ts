/**
 * Rewrites a conversation that comes back with calls of withheld tools: the model gets them as it made them, through the two
 * wrappers, so that the provider's prompt cache stays valid.
 */
import type { Message, Part } from '../../canonical/prompt.ts'
import type { ToolResult } from '../tool.ts'
import { jsonIn } from '../../lib/json/json.ts'

export type ToolCall = Extract<Part, { type: 'tool-call' }>
type ToolResultPart = Extract<Part, { type: 'tool-result' }>

export interface Rewriting {
  /** Returns the call as the model made it; null if it stays unchanged. */
  call(call: ToolCall): ToolCall | null
  /** Returns the result that the model reads for a call; null if it is the one in the conversation. */
  result(call: ToolCall, shown: ToolResultPart): ToolResult | string | null
}

/** Returns the same messages if nothing is rewritten. */
export const rewriteCalls = (messages: readonly Message[], rewriting: Rewriting): readonly Message[] => {
  const calls = new Map<string, ToolCall>()
  let changed = false
  const rewritten = messages.map((message): Message => {
    let differs = false
    const parts = message.parts.map((part): Part => {
      if (part.type === 'tool-call') {
        const call = rewriting.call(part) ?? part
        calls.set(call.id, call)
        differs ||= call !== part
        return call
      }
      if (part.type !== 'tool-result') return part
      const call = calls.get(part.callId)
      const result = call === undefined ? null : rewriting.result(call, part)
      differs ||= result !== null
      if (result === null) return part
      return typeof result === 'string' ? { ...part, text: result } : resultPart(part, result)
    })
    changed ||= differs
    return differs ? { ...message, parts } : message
  })
  return changed ? rewritten : messages
}

/** The result in the form in which the tool loop gives it to the model (inference/loop/run-calls.ts). */
const resultPart = ({ isError: _shown, ...part }: ToolResultPart, { fault, value }: ToolResult): Part => ({
  ...part,
  text: JSON.stringify(value),
  ...(fault === null ? {} : { isError: true }),
})

/** Normalises JSON to the text that the service gives a model, without white space between members. */
export const plainJson = (json: string): string => {
  const value = jsonIn(json)
  return value === undefined ? json : JSON.stringify(value)
}
