import { isExactInteger } from '../lib/json/exact-json.ts'
import { isObject } from '../lib/json/json.ts'
import type { Findings } from './findings.ts'

/** The nesting limit of request bodies (lib/json/json-body.ts): deeper values overflow serializers long before parsers. */
const DEPTH_MAX = 64

/**
 * Code that copies the value later might treat this name specially. `constructor` is allowed because it may be the name of a
 * tool's argument.
 */
const FORBIDDEN_KEY = '__proto__'

/** Other readers of the stored value would round it. */
const ROUNDED = 'This whole number cannot be kept exactly.'

/** Records a fault if a value would not be exactly the same after being stored and read again. */
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
