/**
 * The history of a client of the same dialect, without thinking that other providers made: an upstream refuses the whole
 * request for it (docs/contract/requests.md#proofs-of-reasoning).
 */
import { mayHoldSealedProof, openProof } from '../../canonical/reasoning.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { editElements, editMembers } from '../../lib/json-splice.ts'
import { isObject, type JsonValue } from '../../lib/json.ts'
import type { Target } from '../provider.ts'
import { isItemId, isOwnProof } from './encode-parts.ts'
import type { OpenAiModel } from '../openai-model.ts'

const PLAIN_THINKING = /"reasoning_text"/

/** JSON text for `input`. Null: it can go up as it is, which nearly every request's does. */
export const replayableInput = (body: JsonBody, target: Target, family: OpenAiModel, warn: (warning: Warning) => void): string | null => {
  if (!mayHoldSealedProof(body.searchable) && !(family.hidesThinking && PLAIN_THINKING.test(body.searchable))) return null
  const input = body.value('input')
  const given = body.raw('input')
  if (given === undefined || !Array.isArray(input)) return null
  const items: readonly JsonValue[] = input
  const kept = editElements(given, (text, position) => {
    const item = items[position]
    const own = isObject(item) && item['type'] === 'reasoning' ? replayable(item, text, target, family) : text
    if (own === null) {
      const message = `Thinking that ${target.providerName} cannot verify was left out.`
      warn({ code: 'unsupported_field', field: `input[${position}]`, message })
    }
    return own
  })
  return kept === given ? null : kept
}

/** The item's own text where it can go up, with its seal opened where the thinking is this provider's own, else null. */
const replayable = (item: Readonly<Record<string, unknown>>, text: string, target: Target, family: OpenAiModel): string | null => {
  const encrypted = item['encrypted_content'] ?? ''
  if (typeof encrypted !== 'string') return text
  const proof = openProof(encrypted)
  if (proof !== null) {
    if (!isOwnProof(proof, target)) return null
    const id = isItemId(proof.id) ? JSON.stringify(proof.id) : null
    return editMembers(text, { id, content: null, encrypted_content: JSON.stringify(proof.data) })
  }
  // Thinking in full and nothing encrypted: not made by a model that hides it.
  const content = item['content'] ?? []
  return family.hidesThinking && encrypted === '' && Array.isArray(content) && content.length > 0 ? null : text
}
