/** The headers by which a client chooses how its request is answered, beside the fields of the body. */
import { OWN_NAMES } from '../canonical/own-names.ts'
import { providerFailure, type ProviderFailureMode } from '../contract/provider-failure.ts'
import { GatewayError } from '../errors.ts'
import { excerpt } from '../lib/text/excerpt.ts'

/** True if no provider must be called: the answer says what would be done. */
export const wantsDryRun = (headers: Headers): boolean => wordOf(headers, 'X-Service-Dry-Run', SWITCH) === 'enabled'

/** True if a loss must be refused (docs/contract/requests.md#losses). */
export const wantsStrict = (headers: Headers): boolean => wordOf(headers, 'X-Service-Strict', SWITCH) === 'enabled'

/** How failures of providers must be reported, in place of the operator's setting (docs/contract/errors.md#provider-failures). */
export const wantedFailure = (headers: Headers): ProviderFailureMode | null =>
  wordOf(headers, 'X-Service-Provider-Failure', providerFailure.options)

const SWITCH = ['enabled', 'disabled'] as const

/**
 * The word of a header that changes what a request does or costs; null if the header is absent or empty. Throws `invalid_request` for any
 * other word, which would otherwise do nothing without anybody noticing: a dry run that is asked for by `true` would be charged.
 */
const wordOf = <Word extends string>(headers: Headers, name: string, words: readonly Word[]): Word | null => {
  const given = headers.get(name)
  if (given === null || given === '') return null
  const word = words.find((each) => each === given.toLowerCase())
  if (word !== undefined) return word
  throw new GatewayError('invalid_request', `${name} is "${excerpt(given, 100)}"; send ${words.map((each) => `"${each}"`).join(' or ')}.`)
}

/** The field's name depends on the header's name (docs/contract/headers.md#names). */
export const metadataField = (headers: Headers): (typeof OWN_NAMES.metadata)[number]['field'] | null =>
  OWN_NAMES.metadata.find(({ header }) => headers.get(header)?.toLowerCase() === 'enabled')?.field ?? null
