/** The value at a path of a parsed JSON value; undefined where there is no such place. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown => {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Readonly<Record<string | number, unknown>>)[step]
  }
  return found
}
