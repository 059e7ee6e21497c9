/**
 * Prompt injection by pattern: phrases said outright, with the letters of their words shuffled, with every letter apart,
 * and encoded as base64 or hexadecimal. It finds the attempts that are known; it proves nothing of a text that passes.
 */
import { createAnyMatch } from '../lib/regex/any-match.ts'
import { createFinder, createRegex, type Regex } from '../lib/regex/finder.ts'
import { once } from '../lib/once.ts'
import { COLLAPSED, KEY_WORDS, SPOKEN } from './injection-phrases.ts'

export interface Injection {
  readonly start: number
  readonly end: number
  /** What was read there, in lower case. */
  readonly pattern: string
}

const PATTERN_SHOWN = 100
const ignoreCase = { ignoreCase: true }

/** Compiled when first asked for: most services start without guardrails. */
const patterns = once(() => {
  const spoken = SPOKEN.map((pattern) => createRegex(pattern, ignoreCase))
  const collapsed = COLLAPSED.map((pattern) => createRegex(pattern, ignoreCase))
  return {
    spoken,
    collapsed,
    says: createAnyMatch(spoken),
    saysCollapsed: createAnyMatch(collapsed),
    /** The same word with the letters behind its first in another order, or in their own. */
    shuffled: createRegex(
      KEY_WORDS.map((word) => String.raw`\b${word[0]}[${[...new Set(word.slice(1))].join('')}]{${word.length - 1}}\b`).join('|'),
      ignoreCase,
    ),
    spacedOut: createRegex(String.raw`\b[A-Za-z](?:[ .\-_*|]{1,3}[A-Za-z]){9,}\b`),
    base64: createRegex(String.raw`[A-Za-z0-9+/_\-]{24,}={0,2}`),
    hex: createRegex(String.raw`\b(?:0x)?(?:(?:[0-9A-Fa-f]{2}){16,}|[0-9A-Fa-f]{2}(?:[ :][0-9A-Fa-f]{2}){15,})\b`),
  }
})

/** What a text lacks that holds no attempt and no shuffled word: for a first look at it together with all other filters. */
export const injectionSigns = (): readonly Regex[] => {
  const { spoken, spacedOut, base64, hex } = patterns()
  return [...spoken, spacedOut, base64, hex]
}

export const findInjections = (text: string): readonly Injection[] => {
  const { spoken, collapsed, says, saysCollapsed, spacedOut, base64, hex } = patterns()
  const found: Injection[] = []
  const tell = (start: number, end: number, read: string): void => {
    const pattern = read.toLowerCase().replaceAll(/\s+/g, ' ').slice(0, PATTERN_SHOWN)
    found.push({ start, end, pattern })
  }
  const plain = unshuffle(text)
  if (says(plain)) for (const [start, end] of longest(spoken, plain)) tell(start, end, plain.slice(start, end))
  for (const [start, end] of longest([spacedOut], text)) {
    const letters = text.slice(start, end).replaceAll(/[^A-Za-z]/g, '')
    if (saysCollapsed(letters)) tell(start, end, firstOf(collapsed, letters))
  }
  for (const [regex, decode] of [
    [base64, fromBase64],
    [hex, fromHex],
  ] as const) {
    for (const [start, end] of longest([regex], text)) {
      const decoded = decode(text.slice(start, end).slice(0, ENCODED_MAX)).find(says)
      if (decoded !== undefined) tell(start, end, firstOf(spoken, decoded))
    }
  }
  return found
}

/** The stretches that matches cover, where they overlap as one. */
const longest = (regexes: readonly Regex[], text: string): readonly (readonly [number, number])[] => {
  const spans: [number, number][] = []
  for (const regex of regexes) {
    const finder = createFinder(regex, (start, end) => spans.push([start, end]))
    finder.push(text)
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
  const [first] = longest(regexes, text)
  return first === undefined ? text : text.slice(...first)
}

/** The rest of that first look: key words in their right order are too common to be a sign. */
export const hasShuffledWord = (text: string): boolean => unshuffle(text) !== text

/** Every shuffled key word in its right order. No offset moves: the letters are the same. */
const unshuffle = (text: string): string => {
  let plain = ''
  let from = 0
  for (const [start, end] of longest([patterns().shuffled], text)) {
    const word = text.slice(start, end).toLowerCase()
    const meant = WORDS.has(word) ? undefined : MEANT.get(shape(word))
    if (meant === undefined) continue
    plain += text.slice(from, start) + meant
    from = end
  }
  return plain + text.slice(from)
}

const WORDS: ReadonlySet<string> = new Set(KEY_WORDS)

const shape = (word: string): string => word.charAt(0) + word.slice(1).split('').sort().join('')

const MEANT: ReadonlyMap<string, string> = new Map(KEY_WORDS.map((word) => [shape(word), word]))

const ENCODED_MAX = 100_000

/** Where the encoded text begins is not known: what stands before it may shift it. Bytes that are no text say nothing, and hide nothing. */
const fromBase64 = (text: string): readonly string[] =>
  [0, 1, 2, 3].map((shift) => Buffer.from(text.slice(shift), 'base64').toString('utf8'))

const fromHex = (text: string): readonly string[] => {
  const digits = text.replaceAll(/^0x|[ :]/g, '')
  return [0, 1].map((shift) => Buffer.from(digits.slice(shift), 'hex').toString('utf8'))
}
