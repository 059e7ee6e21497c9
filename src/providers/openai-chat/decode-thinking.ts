/**
 * Decodes `reasoning_details`: thinking in pieces, each with the proof that its maker wants back
 * (docs/contract/chat-completions.md#messages).
 */
import type { ModelEvent } from '../../canonical/event.ts'
import { REASONING_FORMATS, type ReasoningProof } from '../../canonical/reasoning.ts'
import { isObject, textOf } from '../../lib/json/json.ts'

type Json = Readonly<Record<string, unknown>>

/** Proofs of calls, by the ids of the calls: they go into the events of the calls and not into those of the thinking. */
export type CallProofs = ReadonlyMap<string, ReasoningProof>

/** `model`: our id of the model that answers. Returns true if the details held readable thinking. */
export const decodeDetails = (details: readonly unknown[], model: string, callProofs: CallProofs, events: ModelEvent[]): boolean => {
  let readable = false
  for (const detail of details) {
    if (!isObject(detail)) continue
    switch (detail['type']) {
      case 'reasoning.text': {
        const text = textOf(detail['text'])
        if (text !== '') events.push({ type: 'reasoning', text })
        readable ||= text !== ''
        const signature = textOf(detail['signature'])
        if (signature !== '') events.push({ type: 'reasoning-end', proof: proofOf('signature', signature, detail, model) })
        break
      }
      case 'reasoning.summary': {
        const text = textOf(detail['summary'])
        if (text !== '') events.push({ type: 'reasoning', text, summary: true })
        readable ||= text !== ''
        break
      }
      case 'reasoning.encrypted': {
        if (callProofs.has(textOf(detail['id']))) break
        const proof = proofOf('encrypted', textOf(detail['data']), detail, model)
        events.push(proof === null ? { type: 'unknown', kind: detail['type'] } : { type: 'reasoning-end', proof })
        break
      }
      default:
        if (typeof detail['type'] === 'string') events.push({ type: 'unknown', kind: detail['type'] })
    }
  }
  return readable
}

/**
 * Decodes LiteLLM's `thinking_blocks`, which are blocks of Messages. `said`: the same thinking under the name that all servers have; for
 * Gemini only this one is text. Returns true if anything was readable.
 */
export const decodeBlocks = (blocks: readonly unknown[], said: string, model: string, events: ModelEvent[]): boolean => {
  let readable = false
  for (const block of blocks) {
    if (!isObject(block)) continue
    const { type, thinking, signature, data } = block
    const vouched = textOf(thinking)
    const text = blocks.length === 1 && said !== '' ? said : vouched
    if (text !== '') events.push({ type: 'reasoning', text })
    readable ||= text !== ''
    const proof = textOf(type === 'redacted_thinking' ? data : signature)
    if (proof === '') continue
    const kind = type === 'redacted_thinking' ? 'encrypted' : 'signature'
    const own = text === vouched ? {} : { text: vouched }
    events.push({
      type: 'reasoning-end',
      proof: { format: 'anthropic-claude-v1', kind, data: proof, ...own, model, member: 'thinking_blocks' },
    })
  }
  return readable
}

const NO_PROOFS: CallProofs = new Map()

/** The proofs that carry the id of a call of the same message. */
export const proofsOfCalls = (details: readonly unknown[], calls: unknown, model: string): CallProofs => {
  if (!Array.isArray(calls)) return NO_PROOFS
  const ids = new Set(calls.map((call) => (isObject(call) ? textOf(call['id']) : '')))
  const proofs = new Map<string, ReasoningProof>()
  for (const detail of details) {
    if (!isObject(detail) || detail['type'] !== 'reasoning.encrypted') continue
    const id = textOf(detail['id'])
    const proof = id !== '' && ids.has(id) ? proofOf('encrypted', textOf(detail['data']), { ...detail, id: null }, model) : null
    if (proof !== null) proofs.set(id, proof)
  }
  return proofs
}

/** The proof of a call in Google's own form of this dialect. */
export const thoughtSignature = (call: Json, model: string): ReasoningProof | null => {
  const extra = call['extra_content']
  const google = isObject(extra) ? extra['google'] : null
  const data = isObject(google) ? textOf(google['thought_signature']) : ''
  return data === '' ? null : { format: 'google-gemini-v1', kind: 'signature', data, model }
}

/** Null for a format whose proofs have no canonical form. */
const proofOf = (kind: ReasoningProof['kind'], data: string, detail: Json, model: string): ReasoningProof | null => {
  // A signature without a format is taken for one of Anthropic, the first to have signatures.
  const reported = detail['format'] ?? (kind === 'signature' ? 'anthropic-claude-v1' : null)
  const format = REASONING_FORMATS.find((known) => known === reported)
  if (format === undefined || data === '') return null
  const id = textOf(detail['id'])
  return {
    format,
    // Google has only signatures, whatever the detail is called; Anthropic's have no id.
    kind: format === 'google-gemini-v1' ? 'signature' : kind,
    data,
    ...(id === '' || format === 'anthropic-claude-v1' ? {} : { id }),
    model,
  }
}
