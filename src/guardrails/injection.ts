/**
 * Detects prompt injection by patterns: phrases in plain text, with the letters of their words shuffled, with every letter
 * separated, and encoded as base64 or hexadecimal. It finds known attempts; it proves nothing about a text that passes.
 */
import { cutText } from '../lib/text/cut-text.ts'
import { type AskedWords, createAnyMatch, type Matcher } from '../lib/regex/any-match.ts'
import { createFinder, createRegex, type Regex } from '../lib/regex/finder.ts'
import { once } from '../lib/once.ts'
import { atOnce } from '../lib/steps.ts'
import { matchesAny, piecesOf, type Scan } from './scan.ts'
import { COLLAPSED, KEY_WORDS, SPOKEN } from './injection-phrases.ts'

export interface Injection {
  readonly start: number
  readonly end: number
  /** The text that was read there, in lower case. */
  readonly pattern: string
}

const PATTERN_SHOWN = 100
const READ_MAX = 1000
const ignoreCase = { ignoreCase: true }

/** Compiled on first use, because most services start without guardrails. */
const patterns = once(() => {
  const spoken = SPOKEN.map((pattern) => createRegex(pattern, ignoreCase))
  const collapsed = COLLAPSED.map((pattern) => createRegex(pattern, ignoreCase))
  return {
    spoken,
    collapsed,
    says: createAnyMatch(spoken),
    saysCollapsed: createAnyMatch(collapsed),
    /** Matches a key word whose letters after the first are in any order, including the right one. */
    shuffled: createRegex(
      KEY_WORDS.map((word) => String.raw`\b${word[0]}[${[...new Set(word.slice(1))].join('')}]{${word.length - 1}}\b`).join('|'),
      ignoreCase,
    ),
    spacedOut: createRegex(String.raw`\b[A-Za-z](?:[ .\-_*|]{1,3}[A-Za-z]){9,}\b`),
    base64: createRegex(String.raw`[A-Za-z0-9+/_\-]{24,}={0,2}`),
    hex: createRegex(String.raw`\b(?:0x)?(?:(?:[0-9A-Fa-f]{2}){16,}|[0-9A-Fa-f]{2}(?:[ :][0-9A-Fa-f]{2}){15,})\b`),
  }
})

/**
 * Patterns that every attempt matches, unless it has a shuffled word: a text with neither holds no attempt. They are for the first
 * pass, together with those of all other filters.
 */
export const injectionSigns = (): readonly Regex[] => {
  const { spoken, spacedOut, base64, hex } = patterns()
  return [...spoken, spacedOut, base64, hex]
}

export function* scanForInjections(text: string): Scan<readonly Injection[]> {
  const { spoken, collapsed, says, saysCollapsed, spacedOut, base64, hex } = patterns()
  const found: Injection[] = []
  const report = (start: number, end: number, read: string): void => {
    const pattern = cutText(read.slice(0, READ_MAX).toLowerCase().replaceAll(/\s+/g, ' '), PATTERN_SHOWN)
    found.push({ start, end, pattern })
  }
  const plain = yield* unshuffle(text)
  if (yield* matchesAny(says, plain)) for (const [start, end] of yield* longest(spoken, plain)) report(start, end, plain.slice(start, end))
  for (const { disguise, decode, openMatcher, phrases } of [
    { disguise: spacedOut, decode: lettersOf, openMatcher: saysCollapsed, phrases: collapsed },
    { disguise: base64, decode: fromBase64, openMatcher: says, phrases: spoken },
    { disguise: hex, decode: fromHex, openMatcher: says, phrases: spoken },
  ]) {
    for (const [start, end] of yield* longest([disguise], text)) {
      const decoded = yield* decodedMatch(text.slice(start, end), decode, openMatcher)
      if (decoded !== null) report(start, end, firstOf(phrases, decoded))
    }
  }
  return found
}

/** Longer than any phrase, in every disguise. Like the window, it is a multiple of 4, so that base64 groups stay aligned. */
const OVERLAP_CHARACTERS = 2048
const WINDOW_CHARACTERS = 4096

/** Searches decoded windows, which overlap so that no cut hides a phrase. */
function* decodedMatch(text: string, decode: (text: string) => readonly string[], openMatcher: () => Matcher): Scan<string | null> {
  for (let at = 0; at === 0 || at + OVERLAP_CHARACTERS < text.length; at += WINDOW_CHARACTERS) {
    for (const decoded of decode(text.slice(at, at + WINDOW_CHARACTERS + OVERLAP_CHARACTERS))) {
      if (yield* matchesAny(openMatcher, decoded)) return decoded
    }
  }
  return null
}

/** Returns the ranges that matches cover, with overlapping ones merged. */
function* longest(regexes: readonly Regex[], text: string): Scan<readonly (readonly [number, number])[]> {
  const spans: [number, number][] = []
  for (const regex of regexes) {
    const finder = createFinder(regex, (start, end) => {
      const last = spans.at(-1)
      if (last !== undefined && start >= last[0] && start < last[1]) last[1] = Math.max(last[1], end)
      else spans.push([start, end])
    })
    for (const piece of piecesOf(text)) {
      finder.push(piece)
      yield
    }
    finder.pause()
  }
  const united: [number, number][] = []
  for (const [start, end] of spans.sort(([left], [right]) => left - right)) {
    const before = united.at(-1)
    if (before !== undefined && start < before[1]) before[1] = Math.max(before[1], end)
    else united.push([start, end])
  }
  return united
}

const firstOf = (regexes: readonly Regex[], text: string): string => {
  const [first] = atOnce(longest(regexes, text))
  return first === undefined ? text : text.slice(...first)
}

/** The remaining part of the first pass: key words in their right order are too common to be a sign. */
export const shuffledWords = (): AskedWords => ({ regex: patterns().shuffled, isMatch: (word) => meantBy(word) !== undefined })

/** Rewrites every shuffled key word in its right order. Offsets do not change, because the letters are the same. */
function* unshuffle(text: string): Scan<string> {
  const plain: string[] = []
  let from = 0
  for (const [start, end] of yield* longest([patterns().shuffled], text)) {
    const meant = meantBy(text.slice(start, end))
    if (meant === undefined) continue
    plain.push(text.slice(from, start), meant)
    from = end
    yield
  }
  plain.push(text.slice(from))
  return plain.join('')
}

const meantBy = (written: string): string | undefined => {
  const word = written.toLowerCase()
  return WORDS.has(word) ? undefined : MEANT.get(shape(word))
}

const WORDS: ReadonlySet<string> = new Set(KEY_WORDS)

const shape = (word: string): string => word.charAt(0) + word.slice(1).split('').sort().join('')

const MEANT: ReadonlyMap<string, string> = new Map(KEY_WORDS.map((word) => [shape(word), word]))

const lettersOf = (text: string): readonly string[] => [text.replaceAll(/[^A-Za-z]/g, '')]

/**
 * Decodes at each possible alignment, because the start of the encoded text is unknown: characters before it may shift it. Bytes
 * that are not text are harmless.
 */
const fromBase64 = (text: string): readonly string[] =>
  [0, 1, 2, 3].map((shift) => Buffer.from(text.slice(shift), 'base64').toString('utf8'))

const fromHex = (text: string): readonly string[] => {
  const digits = text.replaceAll(/^0x|[ :]/g, '')
  return [0, 1].map((shift) => Buffer.from(digits.slice(shift), 'hex').toString('utf8'))
}
