/** Parses ahead the fields of a large request that are needed before its conversation. */
import { readAhead } from '../formats/call-reader.ts'
import { CONVERSATION_FIELD } from '../formats/require-conversation.ts'
import type { Steps } from '../lib/steps.ts'
import type { Received } from './request.ts'

/** Throws `invalid_request` if a field is not valid JSON. */
export const readFields = ({ apiType, format, body }: Pick<Received, 'apiType' | 'format' | 'body'>): Steps<void> =>
  readAhead(body, apiType === 'embeddings' ? body.keys : body.keys.filter((field) => field !== CONVERSATION_FIELD[format.dialect]))
