/** The address holds the whole state of a screen, as plain text: `?status=error&range=7d`. */
export type Search = { readonly [name: string]: string | undefined }

/** An address may hold anything; of a repeated name the last value counts. */
export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text))

export const stringifySearch = (search: Record<string, unknown>): string => {
  const given = Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

export const validateSearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
