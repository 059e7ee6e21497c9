/** Turns errors that lower layers throw into rows of the one table of errors. */
import { asGatewayError, GatewayError, MANAGEMENT_MESSAGES, STORAGE_AWAY } from '../errors.ts'
import { JsonTextError } from '../lib/json/json-limits.ts'
import { StorageConflict, StorageUnavailable } from '../storage/storage-errors.ts'

export const asFailure = (thrown: unknown): GatewayError => {
  // A large body is parsed as it is read, so a fault in its JSON may show only when a field is read.
  if (thrown instanceof JsonTextError) return new GatewayError('invalid_request', thrown.message, { cause: thrown })
  if (thrown instanceof StorageConflict)
    return new GatewayError('precondition_failed', MANAGEMENT_MESSAGES[409], { status: 409, cause: thrown })
  if (thrown instanceof StorageUnavailable)
    return new GatewayError('provider_overloaded', STORAGE_AWAY, { status: 503, cause: thrown, retryAfterSeconds: 1 })
  return asGatewayError(thrown)
}
