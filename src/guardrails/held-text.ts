/**
 * Text on its way through filters that must know what follows before it may go on. Filters read units; what goes out is
 * the text as it came. The two differ in the JSON text of a tool's arguments, whose escapes must not hide anything.
 */
export interface HeldText {
  /** Takes more of the text, and gives the units that it adds. */
  add(text: string): string
  /** `count`, or one less where that would part the two halves of a character. */
  whole(count: number): number
  /** The text of the next units, as it came; they are held no more. */
  release(count: number): string
  /** Gives the text that stands for the next units; they are held no more. `label` is empty where one stands there already. */
  replace(count: number, label: string): string
  /** The beginning of a unit: an escape whose end has not come. */
  rest(): string
}

/** The first half of a surrogate pair: alone it is no text, and no client can write it. */
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

/** Units that have gone and are still kept, so that an array is not copied for each of them. */
const KEPT_MAX = 4096

interface Unit {
  /** As it came. */
  readonly raw: string
  readonly meant: string
  /** Within a string; its quotes are not. */
  readonly quoted: boolean
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** Whatever is replaced, JSON text stays JSON text: a placeholder outside a string becomes one. */
export const jsonText = (): HeldText => {
  let held: Unit[] = []
  /** Where what is still held begins. */
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
  /** One more character of an escape; what it means, once it is whole. */
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
          // The signs that hold the text together: quotes, commas, braces.
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
