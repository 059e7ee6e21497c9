/** The step after a failed attempt: a pure decision (docs/contract/failover.md#zones). */
import { errorRow, type ErrorType, type GatewayError } from '../../errors.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import { nothingSent } from '../../providers/upstream.ts'

/**
 * How far an attempt came. `not-asked`: the request cannot be put to this provider, by our own judgement. Then, by zone
 * (docs/contract/failover.md#zones), A: nothing was sent; B: it was sent, the client has nothing of it; C: the client
 * has content.
 */
export type Zone = 'not-asked' | 'nothing-sent' | 'sent' | 'delivered'

export type NextStep =
  /** Another credential of the same provider. */
  | 'credential'
  /** Another provider, of the same model where there is one. */
  | 'endpoint'
  /** Another model: the failure describes the request, so every provider of this one would say the same. */
  | 'model'
  /** The failure is the answer. */
  | 'none'

export interface FailedAttempt {
  readonly error: GatewayError
  readonly zone: Zone
  /** The upstream's status; null where it sent none. */
  readonly upstreamStatus: number | null
}

/** For an attempt that delivered nothing to the client. */
export const zoneOf = ({ asked }: { readonly asked: boolean }, error: GatewayError): Zone =>
  !asked ? 'not-asked' : nothingSent(error) ? 'nothing-sent' : 'sent'

export const nextStep = (failed: FailedAttempt): NextStep => {
  // A question that one model was kept from answering is not asked of another.
  if (failed.zone === 'delivered' || isGuardrailBlock(failed.error)) return 'none'
  // Another dialect may have a word that this one lacks.
  if (failed.zone === 'not-asked') return 'endpoint'
  if (credentialFault(failed) !== null) return 'credential'
  return describesRequest(failed.error.type) ? 'model' : 'endpoint'
}

/** A fault of the request or the model has another type, from the adapter; a 429 may mean that the account has no quota left. */
export const credentialFault = ({ error, upstreamStatus }: FailedAttempt): 'refused' | 'limited' | null => {
  if (error.type === 'rate_limit_exceeded') return 'limited'
  return error.type === 'provider_unavailable' && upstreamStatus !== null && REFUSALS.has(upstreamStatus) ? 'refused' : null
}

const REFUSALS: ReadonlySet<number> = new Set([400, 401, 402, 403, 429])

/** The context window belongs to the model, so the row that says `elsewhere` means another model, or one of its endpoints with more of it. */
export const describesRequest = (type: ErrorType): boolean => errorRow(type).failover === 'never' || type === 'context_length_exceeded'
