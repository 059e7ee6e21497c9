/** A request that the service itself refused: the reason, and what was known about the request by then. */
import type { GatewayError } from '../errors.ts'
import type { Plan } from '../routing/plan-attempts.ts'
import { planFor, type PlanParts } from './plan/plan.ts'
import type { Prepared, Screened } from './request.ts'

export class Refused {
  readonly error: GatewayError
  /** Null if the request was refused before its model was known. */
  readonly facts: RefusalFacts | null

  /** `preset`: `slug@version`, if one was found by then. */
  constructor(error: GatewayError, facts: RefusalFacts | null, preset: string | null) {
    this.error = preset === null ? error : error.withPreset(preset)
    this.facts = facts
  }
}

export interface RefusalFacts {
  readonly request: Pick<Prepared, 'call' | 'requested' | 'preset' | 'effects'>
  /**
   * The plan of a request that a guardrail stopped; null if no provider could have been asked anyway. Undefined if it was not a guardrail
   * that refused.
   */
  readonly wouldAsk: Plan | null | undefined
}

/** `prepared` and `screened` are null for steps that were not reached. */
export const refusalFacts = (prepared: Prepared | null, screened: Screened | null, parts: PlanParts): RefusalFacts | null =>
  prepared === null ? null : { request: screened ?? prepared, wouldAsk: screened === null ? planOf(prepared, parts) : undefined }

/** A request may be refused for two reasons at once; the guardrail's refusal is the one reported. */
const planOf = (prepared: Prepared, parts: PlanParts): Plan | null => {
  try {
    return planFor(prepared, parts)
  } catch {
    return null
  }
}
