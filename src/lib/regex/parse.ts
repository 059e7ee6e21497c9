/**
 * Parses the part of JavaScript's regular expressions that can be matched in one pass, whatever the text (no look-around, no
 * back-references). Any other pattern is refused with a sentence for its author.
 */
import { bothCases, charSet, type CharSet, complement, DIGITS, LAST_UNIT, LINE_ENDS, SPACE, WORD } from './char-set.ts'

export type RegexNode =
  | { readonly type: 'units'; readonly set: CharSet }
  | { readonly type: 'sequence' | 'choice'; readonly of: readonly RegexNode[] }
  | { readonly type: 'repeat'; readonly of: RegexNode; readonly min: number; readonly max: number }
  | { readonly type: 'assert'; readonly kind: Assertion }
  /** Alternatives whose sets of first units do not overlap. The parser never creates it (factor.ts does). */
  | { readonly type: 'fork'; readonly of: readonly { readonly set: CharSet; readonly rest: RegexNode }[] }

/**
 * Conditions that must hold between two units. `set` applies to the unit before (`not-before`) or after
 * (`not-behind`); there is none at the text's edges.
 */
export type Assertion =
  | { readonly type: 'start' | 'end' | 'word-edge' | 'no-word-edge' }
  | { readonly type: 'not-before' | 'not-behind'; readonly set: CharSet }

export class RegexRefused extends Error {
  override readonly name = 'RegexRefused'
}

export interface RegexOptions {
  readonly ignoreCase?: boolean
  /** For our own patterns: allows `(?![…])` and `(?<![…])` with a single class, which cost nothing here. */
  readonly edges?: boolean
}

/** In characters. The cost of a pattern is bounded too (compile.ts). */
export const PATTERN_MAX = 100_000
const REPEAT_MAX = 1000
const DEPTH_MAX = 50

export const parseRegex = (pattern: string, options: RegexOptions = {}): RegexNode => {
  if (pattern === '') throw new RegexRefused('the pattern is empty')
  if (pattern.length > PATTERN_MAX) throw new RegexRefused(`the pattern is longer than ${PATTERN_MAX} characters`)
  return new Parser(pattern, options).whole()
}

/** The shared sets of single units, which make up most of a pattern; `CASED` holds them with their other case. */
const SINGLE = new Map<number, CharSet>()
const CASED = new Map<number, CharSet>()

const ANY = complement(LINE_ENDS)
const EVERY: CharSet = [[0, LAST_UNIT]]
const CLASSES: Readonly<Record<string, CharSet>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
}
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, '0': 0 }

class Parser {
  readonly #pattern: string
  readonly #edges: boolean
  #ignoreCase: boolean
  #at = 0
  #depth = 0

  constructor(pattern: string, options: RegexOptions) {
    this.#pattern = pattern
    this.#edges = options.edges === true
    this.#ignoreCase = options.ignoreCase === true
  }

  whole(): RegexNode {
    const node = this.#choice()
    if (this.#at < this.#pattern.length) this.#refuse('an unmatched ")"')
    return node
  }

  #choice(): RegexNode {
    const branches = [this.#sequence()]
    while (this.#take('|')) branches.push(this.#sequence())
    return branches.length === 1 && branches[0] !== undefined ? branches[0] : { type: 'choice', of: branches }
  }

  #sequence(): RegexNode {
    const items: RegexNode[] = []
    while (this.#at < this.#pattern.length && this.#peek() !== '|' && this.#peek() !== ')') items.push(this.#quantified())
    return items.length === 1 && items[0] !== undefined ? items[0] : { type: 'sequence', of: items }
  }

  #quantified(): RegexNode {
    const item = this.#atom()
    const bounds = this.#bounds()
    if (bounds === null) return item
    if (item.type === 'assert') this.#refuse('a quantifier behind an assertion')
    // Lazy and greedy are the same here, since all matches are found.
    this.#take('?')
    if (this.#bounds() !== null) this.#refuse('a quantifier behind a quantifier')
    return { type: 'repeat', of: item, ...bounds }
  }

  #bounds(): { min: number; max: number } | null {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (this.#take('?')) return { min: 0, max: 1 }
    if (this.#peek() !== '{') return null
    const counted = /^\{(\d{1,9})(?:(,)(\d{0,9}))?\}/.exec(this.#pattern.slice(this.#at, this.#at + 24))
    if (counted === null) return null
    this.#at += counted[0].length
    const min = Number(counted[1])
    const most = counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3])
    const max = counted[2] === undefined ? min : most
    if (max < min) this.#refuse('a repetition whose bounds are out of order')
    if (min > REPEAT_MAX || (max !== Number.POSITIVE_INFINITY && max > REPEAT_MAX)) this.#refuse(`a repetition beyond ${REPEAT_MAX}`)
    return { min, max }
  }

  #atom(): RegexNode {
    const character = this.#next()
    switch (character) {
      case '(':
        return this.#group()
      case '[':
        return this.#units(this.#class())
      case '.':
        return { type: 'units', set: ANY }
      case '^':
        return { type: 'assert', kind: { type: 'start' } }
      case '$':
        return { type: 'assert', kind: { type: 'end' } }
      case '\\':
        return this.#escape()
      case '*':
      case '+':
      case '?':
        return this.#refuse('a quantifier with nothing before it')
      default:
        return this.#unit(character.charCodeAt(0))
    }
  }

  #group(): RegexNode {
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) this.#refuse(`groups nested deeper than ${DEPTH_MAX}`)
    const ignoreCase = this.#ignoreCase
    if (this.#take('?')) {
      const kind = /^(?::|i:|-i:|<[A-Za-z_$][\w$]*>|<?[=!])/.exec(this.#pattern.slice(this.#at, this.#at + 66))?.[0]
      if (kind === undefined) return this.#refuse('a group of an unknown kind')
      this.#at += kind.length
      if (/^<?[=!]$/.test(kind)) return this.#edge(kind)
      if (kind === 'i:') this.#ignoreCase = true
      if (kind === '-i:') this.#ignoreCase = false
    }
    const node = this.#choice()
    if (!this.#take(')')) this.#refuse('a group that does not end')
    this.#ignoreCase = ignoreCase
    this.#depth -= 1
    return node
  }

  #edge(kind: string): RegexNode {
    if (!this.#edges || kind === '=' || kind === '<=') {
      return this.#refuse('look-around, which cannot be matched in one pass; \\b, ^ and $ can')
    }
    const node = this.#choice()
    if (node.type !== 'units' || !this.#take(')')) return this.#refuse('an edge that is not one class')
    this.#depth -= 1
    return { type: 'assert', kind: { type: kind === '!' ? 'not-behind' : 'not-before', set: node.set } }
  }

  #escape(): RegexNode {
    const character = this.#peek()
    if (character === 'b' || character === 'B') {
      this.#at += 1
      return { type: 'assert', kind: { type: character === 'b' ? 'word-edge' : 'no-word-edge' } }
    }
    if (/[1-9k]/.test(character)) return this.#refuse('a back-reference, which cannot be matched in one pass')
    const set = this.#escapedSet()
    return typeof set === 'number' ? this.#unit(set) : this.#units(set)
  }

  /** Reads what follows a backslash: a class, or one unit. */
  #escapedSet(): CharSet | number {
    const character = this.#next()
    if (character === 'p' || character === 'P') this.#refuse('a Unicode property; write its ranges, such as [\\u00C0-\\u024F]')
    if (Object.hasOwn(CLASSES, character)) return CLASSES[character] ?? EVERY
    if (Object.hasOwn(CONTROLS, character)) return CONTROLS[character] ?? 0
    const digits = character === 'x' ? 2 : character === 'u' ? 4 : 0
    if (digits === 0) {
      if (/[A-Za-z0-9]/.test(character)) this.#refuse(`the unknown escape \\${character}`)
      return character.charCodeAt(0)
    }
    const hex = this.#pattern.slice(this.#at, this.#at + digits)
    if (!/^[0-9A-Fa-f]+$/.test(hex) || hex.length < digits) this.#refuse(`\\${character} without its ${digits} hex digits`)
    this.#at += digits
    return Number.parseInt(hex, 16)
  }

  #class(): CharSet {
    const negated = this.#take('^')
    const ranges: (readonly [number, number])[] = []
    while (!this.#take(']')) {
      const first = this.#classItem()
      if (typeof first !== 'number') {
        ranges.push(...first)
        continue
      }
      if (this.#peek() !== '-' || this.#pattern[this.#at + 1] === ']') {
        ranges.push([first, first])
        continue
      }
      this.#at += 1
      const last = this.#classItem()
      if (typeof last !== 'number' || last < first) return this.#refuse('a range out of order')
      ranges.push([first, last])
    }
    const set = this.#ignoreCase ? bothCases(charSet(ranges)) : charSet(ranges)
    return negated ? complement(set) : set
  }

  #classItem(): CharSet | number {
    if (this.#at >= this.#pattern.length) this.#refuse('a class that does not end')
    const character = this.#next()
    if (character !== '\\') return character.charCodeAt(0)
    if (this.#take('b')) return 8
    if (this.#take('-')) return 45
    return this.#escapedSet()
  }

  #unit(unit: number): RegexNode {
    const sets = this.#ignoreCase ? CASED : SINGLE
    const known = sets.get(unit) ?? (this.#ignoreCase ? bothCases([[unit, unit]]) : [[unit, unit] as const])
    sets.set(unit, known)
    return { type: 'units', set: known }
  }

  #units(set: CharSet): RegexNode {
    return { type: 'units', set: this.#ignoreCase ? bothCases(set) : set }
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? ''
  }

  #next(): string {
    const character = this.#peek()
    if (character === '') this.#refuse('an end too early')
    this.#at += 1
    return character
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at += 1
    return true
  }

  #refuse(what: string): never {
    throw new RegexRefused(`the pattern has ${what}, near character ${this.#at}`)
  }
}
