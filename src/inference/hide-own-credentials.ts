/**
 * Removes the credentials that a request carries for its tools, such as that of an MCP server, from a failure: a provider may quote them,
 * and the failure is stored in the request's record.
 */
import { secretsIn } from '../canonical/preset-secrets.ts'
import type { GatewayError } from '../errors.ts'
import { hideQuotes } from '../lib/hide-quotes.ts'
import type { JsonBody } from '../lib/json-body.ts'
import { jsonIn } from '../lib/json.ts'
import { hideWithin } from './hide-in-error.ts'

/** The fields in which a client names servers, and what opens them. */
const FIELDS = ['tools', 'mcp_servers']

/** More tools than this, in characters of JSON, are functions, which hold no credentials; to look through them would take long. */
const LOOKED_THROUGH_MAX = 1024 * 1024

/** This many consecutive characters of a credential count as a quotation of it. */
const RUN = 8

export const hideOwnCredentials = (error: GatewayError, body: JsonBody): GatewayError => {
  const credentials = FIELDS.flatMap((field) => credentialsIn(field, body.rawSearchable(field) ?? ''))
  if (credentials.length === 0) return error
  return hideWithin(
    error,
    hideQuotes(
      credentials.map((text) => ({ text, run: RUN })),
      '[redacted]',
    ),
  )
}

const credentialsIn = (field: string, json: string): readonly string[] => {
  if (json === '' || json.length > LOOKED_THROUGH_MAX) return []
  const secrets = secretsIn({ [field]: jsonIn(json) ?? null })
  return secrets.filter(({ kind }) => kind === 'credential').map(({ value }) => value)
}
