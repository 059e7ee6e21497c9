/**
 * Addresses of media that mean something only to the account behind the credential of a provider: a file that was uploaded to Google
 * (https://ai.google.dev/gemini-api/docs/files), an object of a bucket (`gs://…`), an upload of Moonshot's (`ms://…`).
 */
export const isStoredAddress = (address: string): boolean => {
  // Readers of addresses pass over such white space.
  if (!SCHEME.test(address.slice(0, HEAD).replaceAll(/[\t\n\r]/g, ''))) return false
  const { protocol, hostname } = URL.parse(address) ?? {}
  return protocol === undefined || !PUBLIC.has(protocol) || FILES_OF_GOOGLE.test(hostname ?? '')
}

/** Finds JSON text that may hold one, with its slashes and the white space before it as JSON may write them. */
export const STORED_ADDRESS = /"(?:\s|\\[nrt])*(?!https?:)[a-z][a-z0-9+._-]{0,30}:(?:\\?\/){2}|googleapis/i

/** Data and plain base64 have none. */
const SCHEME = /^\s*(?!data:)[a-z][a-z0-9+._-]{0,30}:/i
const HEAD = 256
const PUBLIC: ReadonlySet<string> = new Set(['http:', 'https:'])
const FILES_OF_GOOGLE = /(?:^|\.)generativelanguage(?:\.[a-z0-9-]+)?\.googleapis\.com\.?$/
