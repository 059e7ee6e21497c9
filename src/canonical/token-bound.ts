/**
 * Upper bound of the tokens in JSON text that nobody has counted: one pass over the classes of its characters. It is at least the
 * count of public tokenizers, even for text designed to be many tokens (decisions/0092).
 */
import type { Steps } from '../lib/steps.ts'

/** All costs are in hundredths of a token. */
const TOKEN = 100
/** The base cost of a word; each letter that commonly follows the one before it adds LETTER, any other letter a whole token. */
const WORD = 35
const LETTER = 44
/** Extra cost of a capital: tokenizers know fewer pairs that begin with one. */
const CAPITAL = 45
/** Cost of each further space: runs of spaces become few tokens. */
const FURTHER_SPACE = 7

/** `text`: the text itself. `octets`: its UTF-8 octets, one per character. */
type HeldAs = 'text' | 'octets'

/**
 * Returns hundredths of a token, so that the counts of adjacent texts can be added.
 * `isPassedOver`: returns true for a long string (without its quotes) that is counted as something else.
 */
export function* mostHundredths(held: string, as: HeldAs, isPassedOver: IsPassedOver = null): Steps<number> {
  let sum = 0
  for (let at = 0; at < held.length;) {
    const piece = countPiece(held, at, as, isPassedOver)
    sum += piece.sum
    at = piece.end
    if (at < held.length) yield
  }
  return sum
}

/** Like `mostHundredths`, for a text of at most 1 MiB that has nothing to pass over. */
export const hundredthsOf = (held: string, as: HeldAs): number => countPiece(held, 0, as, null).sum

/** Converts hundredths of a token to whole tokens, rounded up. */
export const wholeTokens = (hundredths: number): number => Math.ceil(hundredths / TOKEN)

type IsPassedOver = ((text: string) => boolean) | null

/** Characters counted per step. */
const PIECE = 1024 * 1024

interface Piece {
  readonly sum: number
  readonly end: number
}

const countPiece = (held: string, start: number, as: HeldAs, isPassedOver: IsPassedOver): Piece => {
  let sum = 0
  const { length } = held
  const asciiEnd = as === 'text' ? ASCII_END : Number.POSITIVE_INFINITY
  const stop = Math.min(start + PIECE, length)
  let at = start
  while (at < stop) {
    const unit = held.charCodeAt(at)
    let end = at + 1
    if (isLetter(unit)) {
      // A word may begin with a capital and continues with small letters.
      let word = unit < LOWER_A ? WORD + LETTER + CAPITAL : WORD + LETTER
      let before = (unit | SMALL) - LOWER_A
      let spelling = before + 1
      for (; end < length; end += 1) {
        const letter = held.charCodeAt(end) - LOWER_A
        if (letter < 0 || letter >= LETTERS) break
        word += COST_BEHIND[before * LETTERS + letter] ?? TOKEN
        before = letter
        spelling = Math.imul(spelling, DIGITS) + letter + 1
      }
      const size = end - at
      if (size <= COMMON_MAX && COMMON[spelling] === 1) sum += TOKEN
      else sum += Math.min(Math.max(TOKEN, word), size * TOKEN)
    } else if (unit === SPACE) {
      while (end < length && held.charCodeAt(end) === SPACE) end += 1
      // A single space before a word belongs to the word.
      if (end > at + 1 || end === length || !isLetter(held.charCodeAt(end))) sum += TOKEN + (end - at - 1) * FURTHER_SPACE
    } else if (unit === BACKSLASH) {
      const sign = held.charCodeAt(end)
      sum += (sign === LETTER_U ? 3 : sign === LETTER_N ? 1 : 2) * TOKEN
      end = at + (sign === LETTER_U ? 6 : 2)
    } else if (unit === QUOTE && isPassedOver !== null) {
      sum += TOKEN
      const closing = held.indexOf('"', end)
      if (closing - end >= LONG && isPassedOver(held.slice(end, closing))) end = closing + 1
    } else if (unit >= asciiEnd) sum += octetsOf(unit) * TOKEN
    else {
      sum += TOKEN
      if (unit >= RUSSIAN_LEAD && isRussian(unit, held.charCodeAt(end))) end += 1
    }
    at = end
  }
  return { sum, end: at }
}

/** Shorter strings are not checked for media. */
const LONG = 256

const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92
const LETTER_N = 110
const LETTER_U = 117
const LOWER_A = 97
const LETTERS = 26

const RUSSIAN_LEAD = 0xd0
/** Two octets that form one Russian letter, which is at most one token. */
const isRussian = (lead: number, next: number): boolean =>
  (lead === RUSSIAN_LEAD && next >= 0x90) || (lead === RUSSIAN_LEAD + 1 && next < 0x90)

const ASCII_END = 0x80

/** The octets of a character in UTF-8, each at most one token; both halves of a pair have two. A Russian letter counts as one. */
const octetsOf = (unit: number): number => {
  if (unit < 0x800) return unit >= RUSSIAN_A && unit < RUSSIAN_END ? 1 : 2
  return unit >= SURROGATES && unit < SURROGATES_END ? 2 : 3
}

const RUSSIAN_A = 0x410
const RUSSIAN_END = 0x450
const SURROGATES = 0xd800
const SURROGATES_END = 0xe000

/** The bit that turns a capital into a small letter. */
const SMALL = 32
const isLetter = (unit: number): boolean => (unit | SMALL) >= LOWER_A && (unit | SMALL) < LOWER_A + LETTERS

/** The length of the longest common word. */
const COMMON_MAX = 4
/** Words that every tokenizer knows, a third of English text. Each word is indexed by its letters as digits from 1 to 26. */
const DIGITS = LETTERS + 1
const COMMON = new Uint8Array(DIGITS ** COMMON_MAX)
const COMMON_WORDS =
  'the of and to in that it is was for on you with as have be at this not are but from or an they by one had all we his her can if will no my has were so what when who out up do me he she more than into been its them then some time only over any may most also such made must'
for (const word of COMMON_WORDS.split(' ')) {
  COMMON[[...word].reduce((sum, letter) => sum * DIGITS + letter.charCodeAt(0) - LOWER_A + 1, 0)] = 1
}

/** The letters that often follow each letter in English and in programs; tokenizers know such pairs. */
const FOLLOWERS: Readonly<Record<string, string>> = {
  a: 'bcdgilmnprstvy',
  b: 'aeloy',
  c: 'aehklot',
  d: 'aeiorsy',
  e: 'acdeflmnpqrstvxy',
  f: 'aior',
  g: 'e',
  h: 'aeio',
  i: 'cdelmnost',
  j: 's',
  k: 'e',
  l: 'adeilostuy',
  m: 'aeiop',
  n: 'acdegiostu',
  o: 'bdfklmnoprstuvw',
  p: 'aeilort',
  q: 'u',
  r: 'aeinorstvy',
  s: 'aehiopst',
  t: 'aehiorsuy',
  u: 'delnrst',
  v: 'aei',
  w: 'aehino',
  x: 't',
  y: 'ps',
}

/** The cost of each letter (second index) after each other letter (first index). */
const COST_BEHIND = new Uint8Array(LETTERS * LETTERS).fill(TOKEN)
for (const [letter, followers] of Object.entries(FOLLOWERS)) {
  for (const follower of followers) COST_BEHIND[(letter.charCodeAt(0) - LOWER_A) * LETTERS + follower.charCodeAt(0) - LOWER_A] = LETTER
}
