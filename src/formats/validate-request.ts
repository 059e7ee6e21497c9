import type { Warning } from '../canonical/warning.ts'
import { startFindings } from './findings.ts'
import type { RequestRules } from './request-rules.ts'

/** The body of an inference request, read by field: a `JsonBody`, which parses only the fields that are read. */
export interface RequestBody {
  readonly keys: readonly string[]
  get(field: string): unknown
}

/**
 * Checks the fields that a body has, and only these: null counts as absent, and unknown fields are accepted, unless some server
 * could read them as another spelling of a field whose limits and costs are known. Throws `invalid_request` naming every fault;
 * returns warnings. `messages` and `input`, which the reader of prompts checks, are not even parsed here.
 */
export const validateRequest = (rules: RequestRules, body: RequestBody): readonly Warning[] => {
  const findings = startFindings()
  for (const field of body.keys) {
    const check = rules.checks.get(field)
    if (check === undefined) {
      const meant = rules.takenFor(field)
      if (meant !== null) findings.fault([field], `Unknown field. Did you mean "${meant}"?`)
      continue
    }
    if (rules.readLater.has(field)) continue
    const value = body.get(field) ?? undefined
    if (value === undefined) continue
    const refusal = rules.refusedAtInference.get(field)
    if (refusal === undefined) check(value, findings)
    else findings.fault([field], refusal)
  }
  rules.checkTogether((field) => body.get(field) ?? undefined, findings)
  findings.throwIfFaulty()
  return findings.warnings
}
