/**
 * The history of a client of the same dialect, without thinking that other providers made: an upstream refuses the whole
 * request for it (pitfalls.md 17).
 */
import { mayHoldSealedProof, openProof } from '../../canonical/reasoning.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import { isObject, type JsonValue } from '../../lib/json.ts'
import type { Target } from '../provider.ts'
import { isItemId, isOwnProof } from './encode-parts.ts'
import type { ModelFamily } from './model-family.ts'

/** Null: the input can go up as it is, which nearly every request's does. */
export const replayableInput = (
  body: JsonBody,
  target: Target,
  family: ModelFamily,
  warn: (warning: Warning) => void,
): readonly JsonValue[] | null => {
  if (!mayHoldSealedProof(body.text) && !(family.hidesThinking && body.text.includes('"reasoning_text"'))) return null
  const input = body.value('input')
  if (!Array.isArray(input)) return null
  let changed = false
  const kept = (input as readonly JsonValue[]).flatMap((item, position) => {
    const own = isObject(item) && item['type'] === 'reasoning' ? replayable(item, target, family) : item
    changed ||= own !== item
    if (own !== null) return [own]
    warn({
      code: 'unsupported_field',
      field: `input[${position}]`,
      message: `Thinking that ${target.providerName} cannot verify was left out.`,
    })
    return []
  })
  return changed ? kept : null
}

/** The item itself where it can go up, with its seal opened where the thinking is this provider's own, else null. */
const replayable = (item: Readonly<Record<string, JsonValue>>, target: Target, family: ModelFamily): JsonValue => {
  const encrypted = item['encrypted_content'] ?? ''
  if (typeof encrypted !== 'string') return item
  const proof = openProof(encrypted)
  if (proof !== null) {
    if (!isOwnProof(proof, target)) return null
    const { id: _, content: __, ...others } = item
    return { ...others, ...(isItemId(proof.id) ? { id: proof.id } : {}), encrypted_content: proof.data }
  }
  // Thinking in full and nothing encrypted: not made by a model that hides it.
  const content = item['content'] ?? []
  return family.hidesThinking && encrypted === '' && Array.isArray(content) && content.length > 0 ? null : item
}
