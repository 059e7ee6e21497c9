/** Who owns each member of an answer, in each interface: the model, the service, or nobody known. */
import type { ClientDialect } from '../canonical/call.ts'
import { eventType } from './relay-text.ts'
import { wordSet } from '../lib/text/word-set.ts'

/**
 * The object that a member belongs to. `event`: an event of a stream. `lifecycle`: an event that carries the answer object.
 * `told`: that answer object, in which the renderer replaces what repeats the request. `answer`: any other answer object. `said`:
 * a part of the model's output. `free`: content that only the model writes, under any name.
 */
export type AnswerPlace = 'event' | 'lifecycle' | 'answer' | 'told' | 'said' | 'free' | 'unknown'

/** The place of the members of the outermost object of this text. */
export const placeOf = (dialect: ClientDialect, json: string, outermost: 'answer' | 'event'): AnswerPlace => {
  if (dialect !== 'responses') return outermost
  if (outermost === 'answer') return 'told'
  return LIFECYCLE_EVENT.test(eventType(json)) ? 'lifecycle' : 'event'
}

/** The place of a member with this name in an object at the place `holder`. */
export const placeWithin = (dialect: ClientDialect, holder: AnswerPlace, name: string): AnswerPlace => {
  switch (holder) {
    case 'event':
    case 'lifecycle':
      if (NESTED_ANSWER[dialect] === name) return holder === 'lifecycle' ? 'told' : 'answer'
      return OUTER[dialect].has(name) ? 'said' : 'unknown'
    case 'answer':
    case 'told':
      if (holder === 'told' && REPLACED.has(name)) return 'free'
      return OUTER[dialect].has(name) ? 'said' : 'unknown'
    case 'said':
      if (FREE[dialect].has(name)) return 'free'
      return SAID.has(name) ? 'said' : 'unknown'
    case 'free':
    case 'unknown':
      return holder
  }
}

const LIFECYCLE_EVENT = /^response\.(?:queued|created|in_progress|completed|incomplete|failed|cancelled)$/

/** The name of the member in which events hold the answer object. */
const NESTED_ANSWER: Readonly<Record<ClientDialect, string | null>> = { chat: null, responses: 'response', messages: 'message' }

/** Members that the renderer replaces with its own (`responseIdentity`). */
const REPLACED = wordSet('instructions tools')

/**
 * Members of an event and of an answer object. Facts that are passed on as the provider wrote them (`system_fingerprint`,
 * `service_tier`, `obfuscation`, the reason why an answer is incomplete) are not listed, so they are searched like unknown
 * members.
 */
const OUTER: Readonly<Record<ClientDialect, ReadonlySet<string>>> = {
  chat: wordSet('id object model created choices'),
  responses: wordSet(`
    id object type status model output output_text item item_id part delta text arguments
    input code refusal annotation logprobs partial_image_b64
  `),
  messages: wordSet('id type role model content content_block delta stop_reason stop_sequence'),
}

/** Members of the model's output. */
const SAID = wordSet(`
  index message delta text finish_reason stop_reason stop_sequence type id object role status content
  format refusal reasoning reasoning_content reasoning_text reasoning_details thinking_blocks thinking signature summary data
  encrypted_content logprobs token bytes top_logprobs tool_calls function_call function custom name namespace arguments
  partial_json annotations annotation citations citation url_citation url title detail audio transcript images image_url
  b64_json result partial_image_b64 video phase call_id item_id tool_use_id code output outputs results queries cited_text
  quote filename file_id container_id document_title encrypted_index encrypted_stdout stdout stderr error_code page_age
  source media_type caller server_name server_label input
`)

/** Members whose content only the model writes. */
const FREE: Readonly<Record<ClientDialect, ReadonlySet<string>>> = {
  chat: wordSet('arguments'),
  responses: wordSet('arguments action operation'),
  messages: wordSet('input'),
}
