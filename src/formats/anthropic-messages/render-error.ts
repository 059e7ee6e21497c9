import { errorRow } from '../../errors.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { errorMetadataMember } from '../answer-parts.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { messageIn } from '../too-long.ts'

/** The error envelope; `request_id` is the generation's id, null before routing (docs/contract/errors.md#types-on-messages). */
export const renderError = (
  error: GatewayError,
  head: AnswerHead | null,
  tail: AnswerTail | null,
): { body: string; answered: boolean } => ({
  body: JSON.stringify({ ...errorBody(error, tail), request_id: head === null ? null : head.generationId }),
  answered: false,
})

/** The envelope without its `request_id`: the data of the `error` event. The metadata is placed beside `error`, whose keys are fixed; `details` is one of those keys. */
export const errorBody = (error: GatewayError, tail: AnswerTail | null): JsonObject => {
  const { error_type: _, details, ...facts } = error.publicMetadata
  return {
    type: 'error',
    error: {
      type: errorRow(error.type).messagesType,
      message: messageIn('prompt is too long', error),
      error_type: error.type,
      ...(details === undefined ? {} : { details: details as JsonObject }),
    },
    ...(Object.keys(facts).length === 0 ? {} : { metadata: facts as JsonObject }),
    ...errorMetadataMember(error, tail),
  }
}
