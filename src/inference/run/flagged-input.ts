/** Adds the text that a provider's filter flagged to the metadata of its failure (docs/contract/errors.md#moderation). */
import type { Call } from '../../canonical/call.ts'
import { lastUserText } from '../../canonical/last-user-text.ts'
import { GatewayError } from '../../errors.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import { JsonTextError } from '../../lib/json/json-limits.ts'
import { FLAGGED_INPUT_MAX } from '../../providers/failures/classify-failure.ts'

/**
 * Few providers repeat the text that they flagged, so the user's last message is reported instead. Any other failure is returned unchanged.
 */
export const withFlaggedInput = (error: GatewayError, call: Call): GatewayError =>
  error.type !== 'content_policy_violation' || error.metadata['flagged_input'] !== undefined
    ? error
    : error.withMetadata({ flagged_input: excerpt(lastText(call), FLAGGED_INPUT_MAX) })

const lastText = (call: Call): string => {
  try {
    return lastUserText(call.prompt()) ?? ''
  } catch (thrown) {
    // If only the provider has judged the body, it may be unreadable here.
    if (thrown instanceof GatewayError || thrown instanceof JsonTextError) return ''
    throw thrown
  }
}
