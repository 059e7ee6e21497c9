/** The path of a call with its parameters. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

/** With the parameters that have a value. */
export const pathOf = (path: string, query: Query = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}
