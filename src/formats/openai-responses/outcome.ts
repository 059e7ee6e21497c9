/** The outcome of a response: its status and the members that explain it. */
import { errorRow } from '../../errors.ts'
import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Ending } from '../ending.ts'

export interface Outcome {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly error: JsonObject | null
  readonly incompleteReason: 'max_output_tokens' | 'content_filter' | null
  /** Top-level `error_type`, on failures only. */
  readonly errorType: string | null
}

export const IN_PROGRESS: Outcome = { status: 'in_progress', error: null, incompleteReason: null, errorType: null }

const COMPLETED: Outcome = { ...IN_PROGRESS, status: 'completed' }

const CUT_SHORT: Outcome = { ...IN_PROGRESS, status: 'incomplete', incompleteReason: 'max_output_tokens' }

/** A model's own refusal completes the response; an answer cut by a content filter is incomplete (docs/contract/errors.md#types). */
export const outcomeOf = (ending: Ending): Outcome => {
  if (ending.reason === 'length') return CUT_SHORT
  if (ending.reason === 'content_filter' && ending.refusal === null) {
    return { ...IN_PROGRESS, status: 'incomplete', incompleteReason: 'content_filter' }
  }
  return COMPLETED
}

/** Errors of length produce an incomplete response (docs/contract/errors.md#length-errors); every other failure fails it. */
export const outcomeOfFailure = (error: GatewayError): Outcome => {
  const row = errorRow(error.type)
  if (row.length === true) return CUT_SHORT
  return {
    status: 'failed',
    // The type is repeated here: for a status other than 200, the official client shows only this member.
    error: { code: row.responsesCode, message: error.publicMessage, metadata: error.publicMetadata as JsonObject },
    incompleteReason: null,
    errorType: error.type,
  }
}
