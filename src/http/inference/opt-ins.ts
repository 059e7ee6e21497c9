/** The headers by which a client chooses how its request is answered, beside the fields of the body: their description, and their reading. */
import { z } from 'zod'

import { OWN_NAMES } from '../../canonical/own-names.ts'
import { providerFailure, type ProviderFailureMode } from '../../contract/provider-failure.ts'
import { GatewayError } from '../../errors.ts'
import { excerpt } from '../../lib/text/excerpt.ts'

const SWITCH = ['enabled', 'disabled'] as const
const enabled = z.enum(SWITCH).optional()
const flag = z.enum(['true', 'false']).optional()

export const strictHeader = {
  'X-Service-Strict': enabled.meta({ description: 'Refuses with 400 what would otherwise be left out with a warning.' }),
}

/** A count of tokens is then estimated. */
export const dryRunHeader = {
  'X-Service-Dry-Run': enabled.meta({
    description: 'Answers with the plan, the upstream request and the likely cost, or with an estimated count; no provider is called.',
  }),
}

/** The headers that embeddings share with the three interfaces. */
export const commonHeaders = {
  'X-Service-Metadata': enabled.meta({ description: 'Adds the routing metadata to the answer.' }),
  'X-Service-Experimental-Metadata': enabled.meta({ description: 'The same.' }),
  ...strictHeader,
  ...dryRunHeader,
  'X-Service-Cache': flag.meta({ description: 'Whether a kept answer may be given, and this one kept; a preset that forbids it wins.' }),
  'X-Service-Cache-TTL': z.string().regex(/^\d+$/).optional().meta({ description: 'Seconds to keep the answer, 1 to 86400.' }),
  'X-Service-Cache-Clear': flag.meta({ description: 'true: the kept answer is removed, and a provider is asked.' }),
}

/** All headers that the three inference interfaces read for themselves. */
export const inferenceHeaders = {
  'x-session-id': z.string().max(256).optional().meta({ description: 'Sticky routing and grouping; the body field wins.' }),
  ...commonHeaders,
  'X-Service-Provider-Failure': providerFailure
    .optional()
    .meta({ description: "Where a provider's failure appears: in a 200's body, as the status, or as the client is known to need it." }),
}

/** True if no provider must be called: the answer says what would be done. */
export const wantsDryRun = (headers: Headers): boolean => wordOf(headers, 'X-Service-Dry-Run', SWITCH) === 'enabled'

/** True if a loss must be refused (docs/contract/requests.md#losses). */
export const wantsStrict = (headers: Headers): boolean => wordOf(headers, 'X-Service-Strict', SWITCH) === 'enabled'

/** How failures of providers must be reported, in place of the operator's setting (docs/contract/errors.md#provider-failures). */
export const wantedFailure = (headers: Headers): ProviderFailureMode | null =>
  wordOf(headers, 'X-Service-Provider-Failure', providerFailure.options)

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
