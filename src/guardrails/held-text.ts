/**
 * Text that is held until the filters know what follows it. Filters read decoded units; the output is the text as it arrived. The
 * two differ in the JSON text of a tool's arguments, whose escapes must not hide anything.
 */
export interface HeldText {
  /** Takes more of the text and returns the units that it adds. */
  add(text: string): string
  /** Returns `count`, or one less if a cut there would split a surrogate pair. */
  whole(count: number): number
  /** Releases the next units and returns their original text. */
  release(count: number): string
  /** Removes the next units and returns the text that replaces them. `label` is empty if a placeholder was already written for them. */
  replace(count: number, label: string): string
  /** The beginning of an incomplete unit: an escape whose end has not arrived. */
  rest(): string
}

/** The first half of a surrogate pair, which alone is no valid text and which no client can write. */
const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

export const plainText = (): HeldText => {
  let held = ''
  const drop = (count: number): string => {
    const text = held.slice(0, count)
    held = held.slice(count)
    return text
  }
  return {
    add(text) {
      held += text
      return text
    },
    whole: (count) => (isFirstHalf(held.charCodeAt(count - 1)) ? count - 1 : count),
    release: drop,
    replace(count, label) {
      drop(count)
      return label
    },
    rest: () => '',
  }
}

/** Released units are kept up to this number, so that the array is not copied for each of them. */
const KEPT_MAX = 4096

interface Unit {
  /** The original text. */
  readonly raw: string
  readonly meant: string
  /** The unit is inside a string; the quotes themselves are not. */
  readonly quoted: boolean
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** JSON text stays JSON text after any replacement: a placeholder outside a string becomes a string. */
export const jsonText = (): HeldText => {
  let held: Unit[] = []
  /** The index in `held` of the first unit that is still held. */
  let from = 0
  let quoted = false
  let escape = ''
  const drop = (count: number): readonly Unit[] => {
    const units = held.slice(from, from + count)
    from += count
    if (from === held.length || from >= KEPT_MAX) {
      held = held.slice(from)
      from = 0
    }
    return units
  }
  /** Takes one more character of an escape; returns its meaning once it is complete, else null. */
  const escaped = (character: string): string | null => {
    escape += character
    if (escape[1] !== 'u') return SIMPLE_ESCAPES[character] ?? character
    return escape.length < 6 ? null : String.fromCharCode(Number.parseInt(escape.slice(2), 16) || 0)
  }
  return {
    add(text) {
      let units = ''
      for (let at = 0; at < text.length; at += 1) {
        const character = text.charAt(at)
        if (escape !== '') {
          const meant = escaped(character)
          if (meant === null) continue
          held.push({ raw: escape, meant, quoted })
          units += meant
          escape = ''
        } else if (quoted && character === '\\') escape = character
        else {
          held.push({ raw: character, meant: character, quoted: quoted && character !== '"' })
          units += character
          if (character === '"') quoted = !quoted
        }
      }
      return units
    },
    whole: (count) => (isFirstHalf(held[from + count - 1]?.meant.charCodeAt(0) ?? 0) ? count - 1 : count),
    release: (count) =>
      drop(count)
        .map(({ raw }) => raw)
        .join(''),
    replace(count, label) {
      const inside = JSON.stringify(label).slice(1, -1)
      let out = ''
      let before: 'inside' | 'outside' | null = null
      for (const { raw, quoted: within } of drop(count)) {
        if (within) {
          if (before !== 'inside') out += inside
          before = 'inside'
        } else if (/[\w.+-]/.test(raw)) {
          if (before !== 'outside' && label !== '') out += `"${inside}"`
          before = 'outside'
        } else {
          // The characters of the JSON structure: quotes, commas, braces.
          out += raw
          before = null
        }
      }
      return out
    },
    rest() {
      const raw = escape
      escape = ''
      return raw
    },
  }
}
