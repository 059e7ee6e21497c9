import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { errorMetadataMember } from '../answer-parts.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { messageIn } from '../too-long.ts'

/** Renders `{error}` before routing; after it the body names the generation too (docs/contract/errors.md#provider-failures). */
export const renderError = (
  error: GatewayError,
  head: AnswerHead | null,
  tail: AnswerTail | null,
): { body: string; answered: boolean } => ({
  body: JSON.stringify({
    ...(head === null ? {} : { id: head.generationId }),
    error: errorMember(error),
    ...errorMetadataMember(error, tail),
  }),
  answered: false,
})

/** The `error` member of a body, of a choice and of a chunk. */
export const errorMember = (error: GatewayError): JsonObject => ({
  code: error.status,
  message: messageIn('context_length_exceeded: reduce the length of the messages', error),
  metadata: error.publicMetadata as JsonObject,
})
