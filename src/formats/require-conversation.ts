/**
 * Requires a request to have content: providers refuse an empty conversation with unhelpful messages, and in some cases no
 * provider is asked at all.
 */
import { type ClientDialect, forEachDialect } from '../canonical/call.ts'
import { invalidField } from '../contract/validate.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { isObject, type JsonValue } from '../lib/json/json.ts'
import { fieldsWhere } from '../request-fields/request-fields.ts'

export const CONVERSATION_FIELD = forEachDialect((client) => fieldsWhere(({ readLater }) => readLater === true, [client])[0] ?? '')

/** A longer conversation is not empty and may be megabytes, so it is not parsed. */
export const LOOKED_THROUGH_MAX = 32_768

/** Throws `invalid_request`. */
export const requireConversation = (client: ClientDialect, body: JsonBody): void => {
  const field = CONVERSATION_FIELD[client]
  const raw = body.rawSearchable(field)
  if (raw === undefined || raw === 'null') throw invalidField(field, `Send ${SOMETHING[client]}.`)
  const isList = raw.startsWith('[')
  if (!isList && !(client === 'responses' && raw.startsWith('"'))) throw invalidField(field, `Expected ${EXPECTED[client]}.`)
  if (body.sizeOf(field) > LOOKED_THROUGH_MAX) return
  const value = body.value(field)
  if (value === '' || (Array.isArray(value) && value.length === 0)) throw invalidField(field, `Send ${SOMETHING[client]}.`)
  if (Array.isArray(value) && saysNothing(value)) throw invalidField(field, 'Every message is empty: send some content.')
}

const SOMETHING: Readonly<Record<ClientDialect, string>> = {
  chat: 'at least one message',
  responses: 'a text, or at least one item',
  messages: 'at least one message',
}

const EXPECTED: Readonly<Record<ClientDialect, string>> = {
  chat: 'a list of messages',
  responses: 'a string or a list of items',
  messages: 'a list of messages',
}

/** Instructions count as a conversation only if there is nothing else. Malformed items are left to the reader of prompts. */
const saysNothing = (items: readonly JsonValue[]): boolean => {
  const spoken = items.filter(isSpoken)
  return (spoken.length === 0 ? items : spoken).every(isEmptyMessage)
}

const isSpoken = (item: JsonValue): boolean => !isObject(item) || (item['role'] !== 'system' && item['role'] !== 'developer')

const isEmptyMessage = (message: JsonValue): boolean => {
  if (!isObject(message)) return false
  const { type = 'message', role, content = null, ...rest } = message
  if (type !== 'message' || typeof role !== 'string') return false
  if (content === null && role !== 'assistant') return false
  return isEmptyContent(content) && Object.entries(rest).every(([name, value]) => NOT_SAID.has(name) || isNothing(value))
}

/** Members that describe a message but are not part of its content. */
const NOT_SAID: ReadonlySet<string> = new Set(['name', 'id', 'status', 'phase'])

const isEmptyContent = (content: JsonValue): boolean =>
  isNothing(content) || (Array.isArray(content) && content.every((part: JsonValue) => isObject(part) && part['text'] === ''))

const isNothing = (value: JsonValue): boolean => value === null || value === '' || (Array.isArray(value) && value.length === 0)
