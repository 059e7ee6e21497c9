/** The path of an API call with its query parameters. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Leaves out parameters that have no value. */
export const pathOf = (path: string, query: Query = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}
