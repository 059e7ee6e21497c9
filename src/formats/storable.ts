import { isExactInteger } from '../lib/exact-json.ts'
import { isObject } from '../lib/json.ts'
import type { Findings } from './findings.ts'

/** As deep as a request body may nest (lib/json-body.ts): deeper text overflows serializers long before parsers. */
const DEPTH_MAX = 64

/** A copy somewhere down the line may take it for more than a name. `constructor` may well be the name of a tool's argument. */
const FORBIDDEN_KEY = '__proto__'

/** Other readers of what is stored would round it. */
const ROUNDED = 'This whole number cannot be kept exactly.'

/** Says whether a value survives being stored and read again exactly as it was sent. Records a fault where it does not. */
export const checkStorable = (value: unknown, at: readonly PropertyKey[], findings: Findings): void => {
  if (findings.full) return
  if (at.length > DEPTH_MAX) return findings.fault(at, 'Nested too deeply.')
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkStorable(item, [...at, index], findings)
  } else if (isExactInteger(value)) {
    findings.fault(at, ROUNDED)
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (key === FORBIDDEN_KEY) findings.fault([...at, key], 'This key is not allowed.')
      else checkStorable(value[key], [...at, key], findings)
    }
  } else if (typeof value === 'number') {
    // JSON has no infinity, but 1e999 parses to it and would be stored as null.
    if (!Number.isFinite(value)) findings.fault(at, 'This number is too large.')
    else if (Number.isInteger(value) && !Number.isSafeInteger(value)) findings.fault(at, ROUNDED)
  } else if (typeof value !== 'string' && typeof value !== 'boolean' && value !== null) {
    findings.fault(at, 'Not a JSON value.')
  }
}
