/**
 * A chat client's own JSON for a chat upstream: byte for byte but for the model, what addresses this service, and what
 * the rules of the vendor and the model change (field-rules.ts).
 */
import { withoutServiceFields } from '../../request-fields/service-fields.ts'
import type { JsonChanges } from '../../lib/json-splice.ts'
import { fieldsOfBody } from '../editable-fields.ts'
import type { Attempt } from '../provider.ts'
import type { Vendor } from '../vendor.ts'
import { applyFieldRules } from './field-rules.ts'
import { relayedMessages } from './relay-messages.ts'

/** What is changed in the client's body. */
export const relayChanges = (attempt: Attempt, vendor: Vendor): JsonChanges => {
  const { call, target, warn } = attempt
  const changes: Record<string, string | null> = {
    ...withoutServiceFields,
    // Of tools that this service runs: no provider is to count them.
    max_tool_calls: null,
    model: JSON.stringify(target.upstreamModel),
  }
  applyFieldRules(fieldsOfBody(call.body, changes), vendor, attempt)
  const messages = relayedMessages(call.body, target, vendor, warn)
  if (messages !== null) changes['messages'] = messages
  return changes
}
