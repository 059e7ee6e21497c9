/** Reads the body of a request for the rules by which a vendor refuses it. */
import { isObject } from '../../src/lib/json/json.ts'

export type Body = Readonly<Record<string, unknown>>

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objects = (value: unknown): readonly Body[] => list(value).filter(isObject)

/** The first member of an object that is not among the names, which white space separates. */
export const strangeIn = (value: unknown, names: string): string | undefined => {
  const known = new Set(names.split(/\s+/))
  return isObject(value) ? Object.keys(value).find((name) => !known.has(name)) : undefined
}

/** The first error of the request; null if it is accepted. */
export const firstRefusal = <Given extends readonly unknown[]>(
  rules: readonly ((...given: Given) => string | null)[],
  ...given: Given
): string | null => {
  for (const rule of rules) {
    const refusal = rule(...given)
    if (refusal !== null) return refusal
  }
  return null
}
