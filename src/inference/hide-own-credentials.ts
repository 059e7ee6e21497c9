/**
 * Removes the credentials that a request carries for its tools, such as that of an MCP server, from a failure: a provider may quote them,
 * and the failure is stored in the request's record.
 */
import { CREDENTIAL_RUN } from '../canonical/hidden-prompt.ts'
import { secretsIn } from '../canonical/preset-secrets.ts'
import type { GatewayError } from '../errors.ts'
import { hideQuotes } from '../lib/hide-quotes.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { jsonIn } from '../lib/json.ts'
import { hideWithin } from './hide-in-error.ts'

/** The fields in which a client names servers, and what opens them. */
const FIELDS = ['tools', 'mcp_servers']

/** More tools than this, in characters of JSON, are not looked through: that would keep other requests waiting. */
const LOOKED_THROUGH_MAX = 1024 * 1024

export const hideOwnCredentials = (error: GatewayError, body: JsonBody): GatewayError => {
  const credentials = FIELDS.flatMap((field) => credentialsIn(field, body))
  if (credentials.length === 0) return error
  return hideWithin(
    error,
    hideQuotes(
      credentials.map((text) => ({ text, run: CREDENTIAL_RUN })),
      '[redacted]',
    ),
  )
}

const credentialsIn = (field: string, body: JsonBody): readonly string[] => {
  if ((body.rawSearchable(field)?.length ?? 0) > LOOKED_THROUGH_MAX) return []
  const secrets = secretsIn({ [field]: jsonIn(body.raw(field) ?? '') ?? null })
  return secrets.filter(({ kind }) => kind === 'credential').map(({ value }) => value)
}
