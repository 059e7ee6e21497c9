/** A search of megabytes of JSON text, a piece at a time: an expression goes over all of them in tens of milliseconds. */
import { JSON_LIMITS } from './json-limits.ts'
import type { Steps } from './steps.ts'

/** Characters that are searched at once. */
const PIECE = 256 * 1024

/** As many characters as a match takes on either side of white space in it. */
const REACH = 128

/** As `pattern.test`. Between the parts of a match there may be white space and colons, as much as a body may have. */
export function* testInSteps(pattern: RegExp, text: string): Steps<boolean> {
  if (text.length <= PIECE) return pattern.test(text)
  for (let from = 0; from < text.length;) {
    const to = behindSpace(text, from + PIECE)
    if (pattern.test(text.slice(Math.max(0, from - REACH), to + REACH))) return true
    from = to
    yield
  }
  return false
}

/**
 * As a loop over `text.matchAll`: `take` gets each match and where it ends, and ends the search by true. Where white space lies within a
 * match, as above.
 */
export function* matchInSteps(pattern: RegExp, text: string, take: (match: RegExpExecArray, end: number) => boolean): Steps<boolean> {
  for (let from = 0; ;) {
    const to = behindSpace(text, from + PIECE)
    let next = Math.max(from, to - REACH)
    for (const match of text.slice(from, to + REACH).matchAll(pattern)) {
      if (from + match.index >= to) break
      const end = from + match.index + match[0].length
      if (take(match, end)) return true
      next = Math.max(next, end)
    }
    if (to >= text.length) return false
    from = next
    yield
  }
}

/** As `text.includes`. */
export function* includesInSteps(text: string, word: string): Steps<boolean> {
  const pattern = wordPattern(word)
  if (text.length <= WORD_PIECE) return pattern.test(text)
  for (let from = 0; from < text.length; from += WORD_PIECE) {
    if (pattern.test(text.slice(from, from + WORD_PIECE + word.length - 1))) return true
    yield
  }
  return false
}

/** A word is found several times as fast as an expression with signs. */
const WORD_PIECE = 4 * PIECE

/**
 * An expression for a word of the program's, such as a name in its quotes. Its last character is written as a class, since the engine
 * looks for an expression without any sign as for a plain word: in JSON that is full of quotes, several times as slow.
 */
export const wordPattern = (word: string): RegExp => {
  const known = PATTERNS.get(word) ?? new RegExp(`${escaped(word.slice(0, -1))}[${escaped(word.slice(-1))}]`)
  PATTERNS.set(word, known)
  return known
}

const PATTERNS = new Map<string, RegExp>()

const escaped = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

/** The pieces are not cut within white space, so that it does not count for their reach. */
const behindSpace = (text: string, from: number): number => {
  const most = from + JSON_LIMITS.spaces
  let at = from
  SPACES.lastIndex = from
  // Most pieces end within a word: one look at a character costs less than an expression.
  while (at < most && text.charCodeAt(at) <= COLON && SPACES.test(text)) at = SPACES.lastIndex
  return Math.min(at, text.length)
}

const COLON = 58
const SPACES = /[ \n\r\t:]{1,65536}/y
