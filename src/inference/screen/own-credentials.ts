/**
 * The credentials that a request carries for its tools, such as that of an MCP server. Neither a failure that quotes them nor the stored
 * contents of the request may show them to those who manage the workspace.
 */
import { CREDENTIAL_RUN } from '../../canonical/hidden-prompt.ts'
import { secretsOf, shownTool } from '../../canonical/preset-secrets.ts'
import { pathText } from '../../contract/validate.ts'
import type { GatewayError } from '../../errors.ts'
import { hideQuotes } from '../../lib/text/hide-quotes.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import { isList, jsonIn, type JsonObject } from '../../lib/json/json.ts'
import { mapInSteps, SCHEMA_UNITS, type Steps } from '../../lib/steps.ts'
import { hideWithin } from './hide-in-error.ts'

/** Stands for a credential. */
const CREDENTIAL_MARK = '[redacted]'

/** The fields in which a client names servers, and what opens them. */
const FIELDS = ['tools', 'mcp_servers']

/** More tools than this, in characters of JSON, are not looked through for a failure: that would keep other requests waiting. */
const LOOKED_THROUGH_MAX = 1024 * 1024

/** A provider may quote the credentials, and the failure is stored in the request's record. */
export const hideOwnCredentials = (error: GatewayError, body: JsonBody): GatewayError => {
  const credentials = FIELDS.flatMap((field) => credentialsIn(field, body))
  if (credentials.length === 0) return error
  return hideWithin(
    error,
    hideQuotes(
      credentials.map((text) => ({ text, run: CREDENTIAL_RUN })),
      CREDENTIAL_MARK,
    ),
  )
}

const credentialsIn = (field: string, body: JsonBody): readonly string[] => {
  if (body.sizeOf(field) > LOOKED_THROUGH_MAX) return []
  const secrets = secretsOf(field, jsonIn(body.raw(field) ?? '') ?? null)
  return secrets.filter(({ kind }) => kind === 'credential').map(({ value }) => value)
}

/** The same body with a mark in place of each credential. */
export function* withoutOwnCredentials(body: JsonBody): Steps<JsonBody> {
  const changes: Record<string, string> = {}
  for (const field of FIELDS) {
    const given = yield* body.parsing(field)
    if (!isList(given)) continue
    const shown = yield* mapInSteps(
      given,
      (tool) => shownTool(tool, [], CREDENTIAL_MARK),
      () => SCHEMA_UNITS,
    )
    if (shown.some((tool, at) => tool !== given[at])) changes[field] = yield* writeInSteps(shown)
  }
  return yield* body.changing(changes)
}

/** The places of a stored request, such as `tools[0].authorization`, where a credential was left out. */
export const missingCredentials = (request: JsonObject): readonly string[] =>
  FIELDS.flatMap((field) => secretsOf(field, request[field] ?? null))
    .filter(({ value }) => value === CREDENTIAL_MARK)
    .map(({ path }) => pathText(path))
