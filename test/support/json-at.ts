/** The value at a path of a parsed JSON value; undefined if the path does not exist. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown => {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Readonly<Record<string | number, unknown>>)[step]
  }
  return found
}
