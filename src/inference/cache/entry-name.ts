/**
 * The name under which an answer is cached: a keyed hash of everything that may change the answer, and of the caller. Two requests that
 * differ in any of that never share an entry, and a name does not reveal the request (docs/contract/response-cache.md#entries).
 */
import { createHash, createHmac } from 'node:crypto'

import type { JsonBody } from '../../lib/json/json-body.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { hasSession } from '../has-session.ts'
import type { Planned } from '../request.ts'

/** The version of the entry's format, so that entries of another format have other names. */
const FORM = 1

export type NamedRequest = Pick<
  Planned,
  'apiType' | 'body' | 'call' | 'caller' | 'guardrails' | 'headers' | 'preset' | 'principal' | 'strict'
>

export function* entryName(request: NamedRequest, secret: Uint8Array): Steps<string> {
  const { apiType, body, call, caller, guardrails, headers, preset, principal, strict } = request
  const facts = [
    FORM,
    [caller.workspaceId, caller.keyHash, caller.userId],
    [apiType, call.dialect, call.stream],
    call.models,
    preset === null ? null : [preset.id, preset.version],
    [strict, headers.sent?.get('x-service-provider-failure') ?? null, principal.providerFailure],
    // A provider of the client's own dialect gets these headers.
    headers.vendor,
    // Each change of a guardrail counts, because these guardrails screened the answer.
    guardrails?.applied ?? null,
    // Both the body that the client wrote and the final one: presets, defaults, files and guardrails may have changed it.
    [yield* digest(body), yield* digest(yield* withoutSentSession(request))],
  ]
  return createHmac('sha256', secret).update(JSON.stringify(facts)).digest('base64url')
}

function* digest(body: JsonBody): Steps<string> {
  const hash = createHash('sha256')
  for (const bytes of body.compactBytes()) {
    hash.update(bytes)
    if (body.held.length > LARGE_BYTES) yield
  }
  return hash.digest('base64url')
}

/** By now the body contains the session that a header names. Headers must not affect the name, so it is removed again. */
function* withoutSentSession({ body, call, headers }: NamedRequest): Steps<JsonBody> {
  return headers.sessionId === null || hasSession(body) ? call.body : yield* call.body.changing({ session_id: null })
}
