/** Output items and their content parts, as JSON text. */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export const messageItem = (id: string, status: ItemStatus, parts: readonly string[]): string =>
  `{"type":"message","id":${JSON.stringify(id)},"role":"assistant","status":"${status}","content":[${parts.join(',')}]}`

export const reasoningItem = (id: string, status: ItemStatus, parts: readonly string[]): string =>
  `{"type":"reasoning","id":${JSON.stringify(id)},"status":"${status}","summary":[],"content":[${parts.join(',')}]}`

export const callItem = (id: string, status: ItemStatus, call: { id: string; name: string }, args: string): string =>
  JSON.stringify({ type: 'function_call', id, call_id: call.id, name: call.name, arguments: args, status })

export type PartType = 'text' | 'refusal' | 'reasoning'

export const part = (type: PartType, text: string): string => {
  if (type === 'text') return `{"type":"output_text","text":${JSON.stringify(text)},"annotations":[],"logprobs":[]}`
  return type === 'refusal'
    ? `{"type":"refusal","refusal":${JSON.stringify(text)}}`
    : `{"type":"reasoning_text","text":${JSON.stringify(text)}}`
}
