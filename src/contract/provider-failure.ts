/**
 * How a provider's failure is returned to the client; set in the server's file, by a key or by a header
 * (docs/contract/errors.md#provider-failures).
 */
import { z } from 'zod'

export const providerFailure = z.enum(['body', 'status', 'auto'])

export type ProviderFailureMode = z.output<typeof providerFailure>
