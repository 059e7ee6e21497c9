/** Removes each word that looks like some vendor’s key from a text, which may be megabytes long. */
import type { Steps } from '../../lib/steps.ts'
import { withoutKeys } from './redact.ts'

/** Characters per step; no key is as long. */
const PIECE = 128 * 1024

export function* redactSecrets(text: string): Steps<string> {
  if (text.length <= PIECE) return withoutKeys(text)
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    const to = from + PIECE >= text.length ? text.length : endOfPiece(text, from)
    pieces.push(withoutKeys(text.slice(from, to)))
    from = to
    yield
  }
  return pieces.join('')
}

/** Chooses an end that cuts no key and no address: between two words, or in a long word where no key can be. One after `Bearer` ends at the next space or quote. */
const endOfPiece = (text: string, from: number): number => {
  const most = from + PIECE
  let to = most
  while (to > most - WORD_MAX && !BETWEEN_WORDS.test(text.charAt(to - 1))) to -= 1
  if (to === most - WORD_MAX) {
    to = most
    while (to > from && KEY_SIGN.test(text.charAt(to - 1))) to -= 1
  }
  // A `Bearer` at the end may itself be what follows another one.
  for (let bearer = lastBearer(text, to); bearer >= from && UNFINISHED.test(text.slice(bearer, to)); bearer = lastBearer(text, to))
    to = bearer
  return to > from ? to : most
}

const lastBearer = (text: string, before: number): number => text.lastIndexOf('Bearer', before - 'Bearer'.length)

/** Characters of a word that is not cut, whatever it is. */
const WORD_MAX = 4096
const BETWEEN_WORDS = /[\s"'<>]/
const KEY_SIGN = /[\w.-]/
const UNFINISHED = /^Bearer\s*[^\s"']*$/
