/** Searches megabytes of JSON text piece by piece: a regular expression takes tens of milliseconds for all of it. */
import { JSON_LIMITS } from '../json/json-limits.ts'
import type { Steps } from '../steps.ts'

/** Characters that are searched at once. */
const PIECE = 256 * 1024

/** The most characters that a match has on either side of white space within it. */
const REACH = 128

/** True for a text that is searched in one step. Callers with many short texts search them without steps, which cost more than the search. */
export const isOnePiece = (text: string): boolean => text.length <= PIECE

/** Like `pattern.test`, in steps. Between the parts of a match there may be as much white space, and colons, as a body may have. */
export function* testInSteps(pattern: RegExp, text: string): Steps<boolean> {
  if (isOnePiece(text)) return pattern.test(text)
  for (let from = 0; from < text.length;) {
    const to = behindSpace(text, from + PIECE)
    if (pattern.test(text.slice(Math.max(0, from - REACH), to + REACH))) return true
    from = to
    yield
  }
  return false
}

/**
 * Like a loop over `text.matchAll`, in steps: `take` gets each match and its end, and stops the search by returning true.
 * White space within a match is treated as by `testInSteps`.
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

/** Like `text.includes`, in steps. */
export function* includesInSteps(text: string, word: string): Steps<boolean> {
  const pattern = wordPattern(word)
  if (text.length <= WORD_PIECE) return pattern.test(text)
  for (let from = 0; from < text.length; from += WORD_PIECE) {
    if (pattern.test(text.slice(from, from + WORD_PIECE + word.length - 1))) return true
    yield
  }
  return false
}

/** A word is found several times as fast as a regular expression with special characters. */
const WORD_PIECE = 4 * PIECE

/**
 * A regular expression for a word of the program's own, such as a name in its quotes. Its last character is
 * written as a class, because the engine searches for an expression without special characters like a plain word,
 * which is several times as slow in JSON full of quotes.
 */
export const wordPattern = (word: string): RegExp => {
  const known = PATTERNS.get(word) ?? new RegExp(`${escaped(word.slice(0, -1))}[${escaped(word.slice(-1))}]`)
  PATTERNS.set(word, known)
  return known
}

const PATTERNS = new Map<string, RegExp>()

const escaped = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

/** Moves the end of a piece past white space, so that white space does not count towards the reach. */
const behindSpace = (text: string, from: number): number => {
  const most = from + JSON_LIMITS.spaces
  let at = from
  SPACES.lastIndex = from
  // Most pieces end within a word: checking one character costs less than a regular expression.
  while (at < most && text.charCodeAt(at) <= COLON && SPACES.test(text)) at = SPACES.lastIndex
  return Math.min(at, text.length)
}

const COLON = 58
const SPACES = /[ \n\r\t:]{1,65536}/y
