/** Decides the step after a failed attempt. Pure (docs/contract/failover.md#zones). */
import { errorRow, type ErrorType, type GatewayError } from '../../errors.ts'
import { isGuardrailBlock } from '../../guardrails/detections.ts'
import { nothingSent } from '../../providers/transport/transport-error.ts'

/**
 * How far an attempt came. `not-asked`: by our own judgement the request cannot be sent to this provider. `unheld`: what its tools did
 * could not be held here, whatever the client has received. The others are the zones of
 * docs/contract/failover.md#zones. A: nothing was sent; B: it was sent, but the client has received nothing; C: the client has received
 * content.
 */
export type Zone = 'not-asked' | 'unheld' | 'nothing-sent' | 'sent' | 'delivered'

export type NextStep =
  | 'credential'
  /** Try another provider, for the same model if there is one. */
  | 'endpoint'
  /** Try another model: the failure is about the request, so every provider of this model would fail likewise. */
  | 'model'
  /** The failure is the answer. */
  | 'none'

export interface FailedAttempt {
  readonly error: GatewayError
  readonly zone: Zone
  /** The upstream's status; null if it sent none. */
  readonly upstreamStatus: number | null
}

/** The zone of an attempt that delivered nothing to the client. */
export const zoneOf = ({ asked }: { readonly asked: boolean }, error: GatewayError): Zone => {
  if (!asked) return 'not-asked'
  return nothingSent(error) ? 'nothing-sent' : 'sent'
}

export const nextStep = (failed: FailedAttempt): NextStep => {
  // If a guardrail withheld one model's answer, no other model is asked, nor if it could not be held.
  if (failed.zone === 'delivered' || failed.zone === 'unheld' || isGuardrailBlock(failed.error)) return 'none'
  // Another dialect may be able to express what this one cannot.
  if (failed.zone === 'not-asked') return 'endpoint'
  if (credentialFault(failed) !== null) return 'credential'
  return describesRequest(failed.error.type) ? 'model' : 'endpoint'
}

/** The adapter gives faults of the request or the model another type; a 429 may mean that the account has no quota left. */
export const credentialFault = ({ error, upstreamStatus }: FailedAttempt): 'refused' | 'limited' | null => {
  if (error.type === 'rate_limit_exceeded') return 'limited'
  return error.type === 'provider_unavailable' && upstreamStatus !== null && REFUSALS.has(upstreamStatus) ? 'refused' : null
}

const REFUSALS: ReadonlySet<number> = new Set([400, 401, 402, 403, 429])

/**
 * The context window belongs to the model, so for `context_length_exceeded`, whose row says `elsewhere`, that means another model, or an
 * endpoint of this one with a larger window.
 */
export const describesRequest = (type: ErrorType): boolean => errorRow(type).failover === 'never' || type === 'context_length_exceeded'
