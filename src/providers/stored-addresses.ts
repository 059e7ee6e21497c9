import type { Steps } from '../lib/steps.ts'

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

/**
 * Says whether JSON text may hold one, with its slashes and the white space before it as JSON may write them. It looks back from
 * slashes behind a colon, which are rarer than quotes; where there are very many, the answer is yes.
 */
export const mayHoldStoredAddress = (json: string): boolean => {
  if (GOOGLE.test(json)) return true
  SLASHES.lastIndex = 0
  for (let count = 0; SLASHES.test(json); count += 1) {
    if (count === LOOKED_AT_MAX) return true
    const colon = json.lastIndexOf(':', SLASHES.lastIndex - 1)
    if (!FOREIGN_SCHEME.test(json.slice(Math.max(0, colon - SCHEME_MAX), colon))) continue
    if (FIRST_IN_STRING.test(json.slice(Math.max(0, colon - HEAD_AS_WRITTEN), colon))) return true
  }
  return false
}

/** The same for text of any length, a piece at a time. */
export function* lookForStoredAddress(json: string): Steps<boolean> {
  for (let from = 0; from < json.length; from += PIECE) {
    if (from > 0) yield
    if (mayHoldStoredAddress(json.slice(Math.max(0, from - HEAD_AS_WRITTEN), from + PIECE + SLASHES_MAX))) return true
  }
  return false
}

/** Characters that are searched in one step. */
const PIECE = 512 * 1024
/** More characters than slashes, or a name of Google's, take behind the end of a piece. */
const SLASHES_MAX = 16

const GOOGLE = /googleapis/i
const SLASHES = /:(?:\\?\/){2}/g
const LOOKED_AT_MAX = 10_000
/** A scheme other than that of a public address, behind a quote or white space. Line ends within a scheme are passed over too. */
const FOREIGN_SCHEME = /(?:["\s]|\\[bfnrt]|\\u00[012][0-9a-f])(?!https?$)[a-z](?:\\[nrt]|[a-z0-9+._-]){0,30}$/i
/** As many characters as it takes. */
const SCHEME_MAX = 67
const FIRST_IN_STRING = /"(?:\s|\\[bfnrt]|\\u00[012][0-9a-f])*(?!https?$)[a-z](?:\\[nrt]|[a-z0-9+._-]){0,30}$/i

/** Data and plain base64 have none. */
// oxlint-disable-next-line no-control-regex
const SCHEME = /^[\s\0-\x1f]*(?!data:)[a-z][a-z0-9+._-]{0,30}:/i
const HEAD = 256
/** Each of its characters, the quote before it among them, may be written as an escape of six. */
const HEAD_AS_WRITTEN = 6 * (HEAD + 1)
const PUBLIC: ReadonlySet<string> = new Set(['http:', 'https:'])
const FILES_OF_GOOGLE = /(?:^|\.)generativelanguage(?:\.[a-z0-9-]+)?\.googleapis\.com\.?$/
