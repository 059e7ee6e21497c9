/** Output items and their parts, as JSON text. */
import type { BuiltInTool } from '../../canonical/built-in-tools.ts'
import type { MessagePhase } from '../../canonical/prompt.ts'
import type { CallingAgent } from '../../canonical/waiting-agent.ts'
import { sealProof } from '../../canonical/reasoning.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject } from '../../lib/json/json.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Avoids a join for a single text, which would copy it. */
export const listed = (texts: readonly string[]): string => (texts.length === 1 ? (texts[0] ?? '') : texts.join(','))

/** `phase`: set if the service ran tools (docs/contract/responses.md#server-tools). */
export const messageItem = (id: string, status: ItemStatus, parts: readonly string[], phase: MessagePhase | null): string =>
  `{"type":"message","id":${JSON.stringify(id)},"role":"assistant","status":"${status}","content":[${listed(parts)}]` +
  (phase === null ? '}' : `,"phase":"${phase}"}`)

/** `encrypted`: the item's `encrypted_content`, if it has one. */
export const reasoningItem = (
  id: string,
  status: ItemStatus,
  { summary, content, encrypted }: { summary: readonly string[]; content: readonly string[]; encrypted: string | null },
): string =>
  `{"type":"reasoning","id":${JSON.stringify(id)},"status":"${status}","summary":[${listed(summary)}],"content":[${listed(content)}]` +
  (encrypted === null ? '}' : `,"encrypted_content":${JSON.stringify(encrypted)}}`)

export interface ItemCall {
  readonly id: string
  readonly name: string
  /** Left out of the JSON if undefined. */
  readonly namespace: string | undefined
  readonly subagent?: CallingAgent | undefined
}

/** A subagent's items, which may be long, are sent only once the call is complete. */
export const callItem = (id: string, status: ItemStatus, { id: call_id, name, namespace, subagent }: ItemCall, args: string): string =>
  JSON.stringify({
    type: 'function_call',
    id,
    call_id,
    name,
    namespace,
    arguments: args,
    status,
    subagent_id: subagent?.id,
    subagent_items: status === 'in_progress' ? undefined : subagent?.items,
  })

export const customCallItem = (id: string, status: ItemStatus, { id: call_id, name, namespace }: ItemCall, input: string): string =>
  JSON.stringify({ type: 'custom_tool_call', id, call_id, name, namespace, input, status })

/** `call`: the members of the tool's own item, and the id of the call. */
export const builtInItem = (tool: BuiltInTool, id: string, status: ItemStatus, call: { readonly call_id: string } & JsonObject): string =>
  JSON.stringify({ type: `${tool}_call`, id, ...call, status })

/** `result` is base64, or the URL of an image that is not inline. */
export const imageItem = (id: string, status: ItemStatus, url: string): string => {
  const inline = /^data:image\/([\w.+-]+);base64,/.exec(url)
  const result = inline === null ? url : url.slice(inline[0].length)
  return JSON.stringify({
    type: 'image_generation_call',
    id,
    status,
    result: status === 'in_progress' ? null : result,
    ...(inline === null ? {} : { output_format: inline[1] }),
  })
}

export type PartType = 'text' | 'refusal' | 'reasoning' | 'summary'

/** The members beside the text of an `output_text`, as JSON texts. */
interface Beside {
  readonly annotations: readonly string[]
  readonly logprobs: readonly string[]
}

const NOTHING_BESIDE: Beside = { annotations: [], logprobs: [] }

/** `said`: the text as a JSON text. */
export const part = (type: PartType, said: string, { annotations, logprobs }: Beside = NOTHING_BESIDE): string => {
  switch (type) {
    case 'text':
      return `{"type":"output_text","text":${said},"annotations":[${annotations.join(',')}],"logprobs":[${logprobs.join(',')}]}`
    case 'refusal':
      return `{"type":"refusal","refusal":${said}}`
    case 'reasoning':
      return `{"type":"reasoning_text","text":${said}}`
    case 'summary':
      return `{"type":"summary_text","text":${said}}`
  }
}

/** Converts a log probability of Chat Completions to this dialect, in which `bytes` is always a list. */
export const logprob = (value: JsonValue): JsonObject => {
  const entry: JsonObject = isObject(value) ? value : {}
  const top = Array.isArray(entry['top_logprobs']) ? (entry['top_logprobs'] as readonly JsonValue[]) : []
  return { ...withBytes(entry), top_logprobs: top.map((each) => withBytes(isObject(each) ? each : {})) }
}

const withBytes = (entry: JsonObject): JsonObject => ({ ...entry, bytes: entry['bytes'] ?? [] })

/**
 * Returns the `encrypted_content` of the item `itemId`. OpenAI's own proof is bound to the id of its item, so under another id it
 * is sealed, as foreign proofs are.
 */
export const encryptedContent = (proof: ReasoningProof, itemId: string): string =>
  isOwn(proof) && (proof.id === undefined || proof.id === itemId) ? proof.data : sealProof(proof)

/** Returns the id that an item needs to hold this proof unsealed; null if any id will do. */
export const requiredItemId = (proof: ReasoningProof): string | null => (isOwn(proof) ? (proof.id ?? null) : null)

const isOwn = (proof: ReasoningProof): boolean => proof.format === 'openai-responses-v1' && proof.kind === 'encrypted'
