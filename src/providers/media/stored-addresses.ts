import type { Steps } from '../../lib/steps.ts'

/**
 * Recognises addresses of media that mean something only to the account behind a provider's credential: a file that was uploaded to Google
 * (https://ai.google.dev/gemini-api/docs/files), an object of a bucket (`gs://…`), an upload to Moonshot (`ms://…`).
 */
export const isStoredAddress = (address: string): boolean => {
  const scheme = SCHEME.exec(address)?.[1]
    ?.replaceAll(/[\t\n\r]/g, '')
    .toLowerCase()
  if (scheme === undefined || scheme === 'data') return false
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
  for (let count = 0, found = SLASHES.exec(json); found !== null; count += 1, found = SLASHES.exec(json)) {
    if (count === LOOKED_AT_MAX) return true
    const colon = found.index
    const before = json.slice(Math.max(0, colon - SCHEME_MAX), colon)
    if (!FOREIGN_SCHEME.test(before) && !IN_LINE_ENDS.test(before)) continue
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
/** Characters read past the end of a piece: more than the slashes with some line ends between them, or the name of Google's host take. */
const SLASHES_MAX = 512

const GOOGLE = /googleapis/i
/** URL parsers skip tabs and line ends wherever they stand. */
const SLASHES = /:(?:(?:\\[nrt]|\\u000[9ad])*(?:\\?\/|\\u002f)){2}/gi
const LOOKED_AT_MAX = 10_000
/** A scheme other than that of a public address, after a quote or white space. Line ends within a scheme are skipped too. */
const FOREIGN_SCHEME = /(?:["\s]|\\[bfnrt]|\\u00[012][0-9a-f])(?!https?$)[a-z](?:\\[nrt]|[a-z0-9+._-]){0,30}$/i
/** The most characters that FOREIGN_SCHEME matches. */
const SCHEME_MAX = 67
/** Line ends, which may be many, before the colon: the scheme may be longer than SCHEME_MAX. */
const IN_LINE_ENDS = /\\(?:[nrt]|u000[9ad])[a-z0-9+._-]{0,30}$/i
/** Begins at a quote, or at the beginning of what is looked at, which may be in the middle of an escape: so much white space stands before no prose. */
const FIRST_IN_STRING =
  /(?:"|^(?=\\|\s|u00|[nrt]\\|[0-9a-f]{1,4}\\)(?:[nrt]|[u0-9a-f]{0,5}))(?:\s|\\[bfnrt]|\\u00[012][0-9a-f])*(?!https?$)[a-z](?:\\[nrt]|\\u000[9ad]|[a-z0-9+._-])*$/i

/** Data URLs and plain base64 do not match. */
// oxlint-disable-next-line no-control-regex
const SCHEME = /^[\s\0-\x1f]*([a-z](?:[\t\n\r]*[a-z0-9+._-]){0,30})[\t\n\r]*:/i
/** Characters of JSON text before a colon in which the beginning of an address is looked for; white space may fill all of them. */
const HEAD_AS_WRITTEN = 1542
const PUBLIC: ReadonlySet<string> = new Set(['http:', 'https:'])
const FILES_OF_GOOGLE = /(?:^|\.)generativelanguage(?:\.[a-z0-9-]+)?\.googleapis\.com\.?$/
