/** The categories that a filter of a provider flagged, for the metadata of its failure (docs/contract/errors.md#moderation). */
import type { Call } from '../../canonical/call.ts'
import { lastUserText } from '../../canonical/last-user-text.ts'
import { GatewayError } from '../../errors.ts'
import { excerpt } from '../../lib/excerpt.ts'
import { JsonTextError } from '../../lib/json-limits.ts'
import { FLAGGED_INPUT_MAX } from '../../providers/classify-failure.ts'

/** Few providers repeat the text that they flagged: then it is the last message of the user. Any other failure is passed through. */
export const withFlaggedInput = (error: GatewayError, call: Call): GatewayError =>
  error.type !== 'content_policy_violation' || error.metadata['flagged_input'] !== undefined
    ? error
    : error.withMetadata({ flagged_input: excerpt(lastText(call), FLAGGED_INPUT_MAX) })

const lastText = (call: Call): string => {
  try {
    return lastUserText(call.prompt()) ?? ''
  } catch (thrown) {
    // A body that only its provider could judge may be none that we can read.
    if (thrown instanceof GatewayError || thrown instanceof JsonTextError) return ''
    throw thrown
  }
}
