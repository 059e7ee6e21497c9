/**
 * Prepares the history of a client of the same dialect for the upstream: without thinking that other providers made, for which it refuses
 * the whole request (docs/contract/requests.md#proofs-of-reasoning); without containers of earlier calls, which belong to the account; with
 * ids of calls that are short enough.
 */
import { lookForSealedProof, openProof, UNSIGNED } from '../../canonical/reasoning.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElements, editMembers } from '../../lib/json/json-splice.ts'
import { isObject, type JsonValue } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import { matchInSteps, testInSteps } from '../../lib/text/search-steps.ts'
import type { Steps } from '../../lib/steps.ts'
import type { OpenAiModel } from '../vendors/openai-model.ts'
import type { Target } from '../provider.ts'
import { answerable } from '../tools/answerable.ts'
import { vendorOf } from '../vendors/vendors.ts'
import { CALL_ID_MAX, callId, isItemId, isOwnProof } from './encode-parts.ts'

const EMPTY_LIST = /^\[\s*\]$/
const CONTAINER = /"container_id"/
/** Used only for vendors with this limit. An id that is written with escapes is not matched, and left to the vendor. */
const LONG_CALL_ID = new RegExp(`"call_id"\\s*:\\s*"[^"\\\\]{${CALL_ID_MAX + 1}}`)

/** JSON text for `input`. Null if it can be sent as it is, as in nearly every request. */
export function* replayableInput(
  body: JsonBody,
  target: Target,
  family: OpenAiModel,
  warn: (warning: Warning) => void,
): Steps<string | null> {
  const { searchable } = body
  const mayThink = (yield* lookForSealedProof(searchable)) || (family.hidesThinking && (yield* mayLackProof(searchable)))
  const mayContain = target.storedObjects !== true && (yield* lookForName(CONTAINER, searchable))
  const shortens = vendorOf(target.provider).openAiModels && (yield* testInSteps(LONG_CALL_ID, searchable))
  if (!mayThink && !mayContain && !shortens) return null
  const input = body.value('input')
  const given = body.raw('input')
  if (given === undefined || !Array.isArray(input)) return null
  const items: readonly JsonValue[] = input
  const kept = editElements(given, (text, position) => {
    const item = items[position]
    if (!isObject(item)) return text
    const at = `input[${position}]`
    if (item['type'] === 'reasoning') {
      const own = replayable(item, text, target, family)
      if (own === null)
        warn({ code: 'unsupported_field', field: at, message: `Thinking that ${target.providerName} cannot verify was left out.` })
      return own
    }
    const id = item['call_id']
    const called =
      shortens && typeof id === 'string' && id.length > CALL_ID_MAX ? editMembers(text, { call_id: JSON.stringify(callId(id)) }) : text
    const place = mayContain ? containerIn(item) : null
    if (place === null) return called
    const message = `Requests may not use a container in the account of this service at ${target.providerName}; it was left out.`
    warn({ code: 'unsupported_field', field: `${at}.${place}`, message })
    // A call of the interpreter is not valid without its container.
    return place === 'container_id' ? null : editMembers(called, { environment: null })
  })
  answerable([{ at: 'input[0]' }], EMPTY_LIST.test(kept) ? [] : items)
  return kept === given ? null : kept
}

/** True if an item of thinking may have no encrypted form, unless the text spells its names with escapes. */
function* mayLackProof(searchable: string): Steps<boolean> {
  let isOpen = false
  const lacks = yield* matchInSteps(TYPE_OR_PROOF, searchable, ([, type]) => {
    const wasOpen = isOpen && type !== undefined
    isOpen = type === 'reasoning'
    return wasOpen
  })
  return lacks || isOpen
}

/** The types of parts within an item of thinking are passed over. */
const TYPE_OR_PROOF = /"type"\s*:\s*"(?!summary_text"|reasoning_text")(\w+)"|"encrypted_content"\s*:\s*"[^"]/g

/** The member of a finished call that names the container in which it ran (docs/contract/responses.md#nothing-is-stored). */
const containerIn = ({ type, container_id: id, environment }: Readonly<Record<string, unknown>>): 'container_id' | 'environment' | null => {
  if (type === 'code_interpreter_call' && typeof id === 'string') return 'container_id'
  return type === 'shell_call' && isObject(environment) && typeof environment['container_id'] === 'string' ? 'environment' : null
}

/** The item's text if it can be sent, with the seal opened if the thinking is this provider's own; null if it must be left out. */
const replayable = (item: Readonly<Record<string, unknown>>, text: string, target: Target, family: OpenAiModel): string | null => {
  const encrypted = item['encrypted_content'] ?? ''
  if (typeof encrypted !== 'string') return text
  if (encrypted === UNSIGNED) return family.hidesThinking ? null : editMembers(text, { encrypted_content: null })
  const proof = openProof(encrypted)
  if (proof !== null) {
    if (!isOwnProof(proof, target)) return null
    const id = isItemId(proof.id) ? JSON.stringify(proof.id) : null
    return editMembers(text, { id, content: null, encrypted_content: JSON.stringify(proof.data) })
  }
  if (!family.hidesThinking || encrypted !== '') return text
  // Without its encrypted form, thinking is looked up by its id among what the account stores. Full thinking is another model's.
  const content = item['content'] ?? []
  return target.storedObjects === true && !(Array.isArray(content) && content.length > 0) ? text : null
}
