import type { Steps } from '../../lib/steps.ts'

/**
 * Recognises addresses of media that mean something only to the account behind a provider's credential: a file that was uploaded to Google
 * (https://ai.google.dev/gemini-api/docs/files), an object of a bucket (`gs://…`), an upload to Moonshot (`ms://…`).
 */
export const isStoredAddress = (address: string): boolean => {
  // URL parsers ignore such white space.
  if (!SCHEME.test(address.slice(0, HEAD).replaceAll(/[\t\n\r]/g, ''))) return false
  const { protocol, hostname } = URL.parse(address) ?? {}
  return protocol === undefined || !PUBLIC.has(protocol) || FILES_OF_GOOGLE.test(hostname ?? '')
}

/**
 * Says whether JSON text may hold such an address, with the escapes of slashes and of leading white space that JSON allows. It searches for
 * slashes after a colon, which are rarer than quotes, and looks back from them; if there are very many, the answer is yes.
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

/** Like `mayHoldStoredAddress`, for text of any length, a piece at a time. */
export function* lookForStoredAddress(json: string): Steps<boolean> {
  for (let from = 0; from < json.length; from += PIECE) {
    if (from > 0) yield
    if (mayHoldStoredAddress(json.slice(Math.max(0, from - HEAD_AS_WRITTEN), from + PIECE + SLASHES_MAX))) return true
  }
  return false
}

/** Characters searched in one step. */
const PIECE = 512 * 1024
/** Characters read past the end of a piece: more than the slashes or the name of Google's host take. */
const SLASHES_MAX = 16

const GOOGLE = /googleapis/i
const SLASHES = /:(?:\\?\/){2}/g
const LOOKED_AT_MAX = 10_000
/** A scheme other than that of a public address, after a quote or white space. Line ends within a scheme are skipped too. */
const FOREIGN_SCHEME = /(?:["\s]|\\[bfnrt]|\\u00[012][0-9a-f])(?!https?$)[a-z](?:\\[nrt]|[a-z0-9+._-]){0,30}$/i
/** The most characters that FOREIGN_SCHEME matches. */
const SCHEME_MAX = 67
const FIRST_IN_STRING = /"(?:\s|\\[bfnrt]|\\u00[012][0-9a-f])*(?!https?$)[a-z](?:\\[nrt]|[a-z0-9+._-]){0,30}$/i

/** Data URLs and plain base64 do not match. */
// oxlint-disable-next-line no-control-regex
const SCHEME = /^[\s\0-\x1f]*(?!data:)[a-z][a-z0-9+._-]{0,30}:/i
const HEAD = 256
/** The most characters of JSON text for HEAD: each of its characters, and the quote before them, may be an escape of six. */
const HEAD_AS_WRITTEN = 6 * (HEAD + 1)
const PUBLIC: ReadonlySet<string> = new Set(['http:', 'https:'])
const FILES_OF_GOOGLE = /(?:^|\.)generativelanguage(?:\.[a-z0-9-]+)?\.googleapis\.com\.?$/
