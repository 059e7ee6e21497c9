import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { errorMetadataMember } from '../answer-parts.ts'
import type { AnswerHead, AnswerTail } from '../format.ts'
import { outcomeOfFailure } from './outcome.ts'
import { responseWriter } from './response-object.ts'

/**
 * Renders the standard error body before routing; after it a complete failed response, so that typed clients can read it. An error
 * of length is then an answer: an incomplete response without output (docs/contract/errors.md#length-errors).
 */
export const renderError = (error: GatewayError, head: AnswerHead | null, tail: AnswerTail | null): { body: string; answered: boolean } => {
  const more = errorMetadataMember(error, tail)
  if (head === null) return { body: JSON.stringify({ ...errorEnvelope(error), ...more }), answered: false }
  const outcome = outcomeOfFailure(error)
  return { body: responseWriter(head)({ outcome, output: [], tail, more }), answered: outcome.status === 'incomplete' }
}

const errorEnvelope = (error: GatewayError): JsonObject => ({
  error: { code: error.status, message: error.publicMessage, metadata: error.publicMetadata as JsonObject },
  error_type: error.type,
})
