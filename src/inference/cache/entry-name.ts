/**
 * The name under which an answer is kept: a keyed hash of everything that may change the answer, and of who asks. Two requests
 * that differ in any of it never share an entry, and a name does not reveal what was asked (docs/contract/response-cache.md#entries).
 */
import { createHash, createHmac } from 'node:crypto'

import { compactPieces } from '../../lib/compact-json.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import type { Planned } from '../stages.ts'

/** Entries of another form have other names. */
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
    // A provider of the client's own dialect gets these.
    headers.vendor,
    // Each change of a guardrail counts: the answer was screened by these.
    guardrails?.applied ?? null,
    // As the client wrote it, and as it goes on: presets, defaults, files and guardrails may have changed it meanwhile.
    [yield* digest(body.text), yield* digest(withoutSentSession(request))],
  ]
  return createHmac('sha256', secret).update(JSON.stringify(facts)).digest('base64url')
}

function* digest(json: string): Steps<string> {
  const hash = createHash('sha256')
  for (const piece of compactPieces(json)) {
    hash.update(piece)
    if (json.length > LARGE_BYTES) yield
  }
  return hash.digest('base64url')
}

/** The session that a header names is in the body by now. Headers do not count. */
const withoutSentSession = ({ body, call, headers }: NamedRequest): string =>
  headers.sessionId === null || body.has('session_id') ? call.body.text : call.body.textWith({ session_id: null })
