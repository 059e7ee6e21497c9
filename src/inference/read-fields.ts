/** Parses ahead the fields of a large request that are needed before its conversation. */
import type { ClientDialect } from '../canonical/call.ts'
import { readAhead } from '../formats/call-reader.ts'
import type { Steps } from '../lib/steps.ts'
import { fieldsWhere } from '../request-fields/request-fields.ts'
import type { Received } from './request.ts'

/** Throws `invalid_request` if a field is not valid JSON. */
export const readFields = ({ apiType, format, body }: Pick<Received, 'apiType' | 'format' | 'body'>): Steps<void> =>
  readAhead(body, apiType === 'embeddings' ? body.keys : body.keys.filter((field) => !CONVERSATION[format.dialect].has(field)))

const conversation = (client: ClientDialect): ReadonlySet<string> => new Set(fieldsWhere(({ readLater }) => readLater === true, [client]))

const CONVERSATION: Readonly<Record<ClientDialect, ReadonlySet<string>>> = {
  chat: conversation('chat'),
  responses: conversation('responses'),
  messages: conversation('messages'),
}
