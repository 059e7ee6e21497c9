/** The options in a client's headers: to see something in addition to its answer, or instead of it. */
import { OWN_NAMES } from '../canonical/own-names.ts'
import { providerFailure, type ProviderFailureMode } from '../contract/provider-failure.ts'

/** True if no provider must be called: the answer says what would be done. */
export const wantsDryRun = (headers: Headers): boolean => isEnabled(headers, 'x-service-dry-run')

/**
 * How failures of providers must be reported, in place of the operator's setting; null for any other
 * value (docs/contract/errors.md#provider-failures).
 */
export const wantedFailure = (headers: Headers): ProviderFailureMode | null =>
  providerFailure.safeParse(headers.get('x-service-provider-failure')?.toLowerCase()).data ?? null

/** The field's name depends on the header's name (docs/contract/headers.md#names). */
export const metadataField = (headers: Headers): (typeof OWN_NAMES.metadata)[number]['field'] | null => {
  const asked = OWN_NAMES.metadata.find(
    (names) => isEnabled(headers, `${names.headers}metadata`) || isEnabled(headers, `${names.headers}experimental-metadata`),
  )
  return asked?.field ?? null
}

export const isEnabled = (headers: Headers, name: string): boolean => headers.get(name)?.toLowerCase() === 'enabled'
