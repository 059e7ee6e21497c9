/**
 * The most tokens that JSON text is to a model, where nobody has counted: one pass by the classes of its characters. It is at
 * least what public tokenizers make of the text, also of text that is written to be many tokens (decisions/0092).
 */
import type { Steps } from '../lib/steps.ts'

/** In hundredths of a token. */
const TOKEN = 100
/** A word takes this, and more for each letter that often follows the one before it; any other letter is a token. */
const WORD = 35
const LETTER = 44
/** Tokenizers know fewer pairs that begin with a capital. */
const CAPITAL = 45
/** Rows of spaces become few tokens. */
const FURTHER_SPACE = 7

/**
 * In hundredths, so that those of neighbouring texts can be added. `octets`: of UTF-8, as characters. `isPassedOver`: says of a long
 * string, without its quotes, that it is counted as something else.
 */
export function* mostHundredths(octets: string, isPassedOver: IsPassedOver = null): Steps<number> {
  let sum = 0
  for (let at = 0; at < octets.length;) {
    const piece = countPiece(octets, at, isPassedOver)
    sum += piece.sum
    at = piece.end
    if (at < octets.length) yield
  }
  return sum
}

/** Hundredths of a token as whole ones. */
export const wholeTokens = (hundredths: number): number => Math.ceil(hundredths / TOKEN)

type IsPassedOver = ((text: string) => boolean) | null

/** Octets that are counted at once. */
const PIECE = 1024 * 1024

const countPiece = (octets: string, start: number, isPassedOver: IsPassedOver): { readonly sum: number; readonly end: number } => {
  let sum = 0
  const { length } = octets
  const stop = Math.min(start + PIECE, length)
  let at = start
  while (at < stop) {
    const unit = octets.charCodeAt(at)
    let end = at + 1
    if (isLetter(unit)) {
      // A capital begins a word, and small letters go on with it.
      let word = unit < LOWER_A ? WORD + LETTER + CAPITAL : WORD + LETTER
      let before = (unit | SMALL) - LOWER_A
      for (; end < length; end += 1) {
        const letter = octets.charCodeAt(end) - LOWER_A
        if (letter < 0 || letter >= LETTERS) break
        word += COST_BEHIND[before * LETTERS + letter] ?? TOKEN
        before = letter
      }
      const size = end - at
      if (size <= COMMON_MAX && isCommon(octets, at, end)) sum += TOKEN
      else sum += Math.min(Math.max(TOKEN, word), size * TOKEN)
    } else if (unit === SPACE) {
      while (end < length && octets.charCodeAt(end) === SPACE) end += 1
      // The one before a word is the word's.
      if (end > at + 1 || end === length || !isLetter(octets.charCodeAt(end))) sum += TOKEN + (end - at - 1) * FURTHER_SPACE
    } else if (unit === BACKSLASH) {
      const sign = octets.charCodeAt(end)
      sum += (sign === LETTER_U ? 3 : sign === LETTER_N ? 1 : 2) * TOKEN
      end = at + (sign === LETTER_U ? 6 : 2)
    } else if (unit === QUOTE && isPassedOver !== null) {
      sum += TOKEN
      const closing = octets.indexOf('"', end)
      if (closing - end >= LONG && isPassedOver(octets.slice(end, closing))) end = closing + 1
    } else {
      sum += TOKEN
      if (unit >= RUSSIAN_LEAD && isRussian(unit, octets.charCodeAt(end))) end += 1
    }
    at = end
  }
  return { sum, end: at }
}

/** Shorter strings are no media worth the search. */
const LONG = 256

const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92
const LETTER_N = 110
const LETTER_U = 117
const LOWER_A = 97
const LETTERS = 26

const RUSSIAN_LEAD = 0xd0
/** Two octets of a letter that is a token at most. */
const isRussian = (lead: number, next: number): boolean =>
  (lead === RUSSIAN_LEAD && next >= 0x90) || (lead === RUSSIAN_LEAD + 1 && next < 0x90)

/** The bit that makes a capital small. */
const SMALL = 32
const isLetter = (unit: number): boolean => (unit | SMALL) >= LOWER_A && (unit | SMALL) < LOWER_A + LETTERS

const isCommon = (octets: string, start: number, end: number): boolean => {
  let word = 0
  for (let at = start; at < end; at += 1) word = word * DIGITS + (octets.charCodeAt(at) | SMALL) - LOWER_A + 1
  return COMMON[word] === 1
}

/** Letters of the longest common word. */
const COMMON_MAX = 4
/** Words that every tokenizer knows: a third of English. By their letters as digits from 1 to 26. */
const DIGITS = LETTERS + 1
const COMMON = new Uint8Array(DIGITS ** COMMON_MAX)
const COMMON_WORDS =
  'the of and to in that it is was for on you with as have be at this not are but from or an they by one had all we his her can if will no my has were so what when who out up do me he she more than into been its them then some time only over any may most also such made must'
for (const word of COMMON_WORDS.split(' ')) {
  COMMON[[...word].reduce((sum, letter) => sum * DIGITS + letter.charCodeAt(0) - LOWER_A + 1, 0)] = 1
}

/** The letters that follow each letter in English and in programs; tokenizers know such pairs. */
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

/** The cost of each letter, in the second place, behind each other one. */
const COST_BEHIND = new Uint8Array(LETTERS * LETTERS).fill(TOKEN)
for (const [letter, followers] of Object.entries(FOLLOWERS)) {
  for (const follower of followers) COST_BEHIND[(letter.charCodeAt(0) - LOWER_A) * LETTERS + follower.charCodeAt(0) - LOWER_A] = LETTER
}
