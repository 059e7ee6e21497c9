/** Reads JSON that a person wrote. Browsers say in different words what is wrong with it, and some of them not where. */
export const readJson = (text: string): { readonly value: unknown } | { readonly fault: string } => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { fault: `This is no JSON: ${placeOfFault(text)}` }
  }
}

const placeOfFault = (text: string): string => {
  const { at, wanted } = firstFault(text)
  const before = text.slice(0, at).split('\n')
  const rest = (text.slice(at).split('\n', 1)[0] ?? '').trim()
  const found =
    rest === ''
      ? text.slice(at).trim() === ''
        ? 'the end'
        : 'the end of the line'
      : rest.slice(0, EXCERPT) + (rest.length > EXCERPT ? '…' : '')
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1} has ${found} in place of ${wanted}.`
}

const EXCERPT = 24

interface Fault {
  readonly at: number
  /** The words for what could stand there. */
  readonly wanted: string
}

/** The part that may come next. A list or an object that was just opened may also end. */
type Next = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'more'

/** A text that `JSON.parse` refused has a fault, so the end is one that comes too early. */
const firstFault = (text: string): Fault => {
  const open: ('}' | ']')[] = []
  let next = 'value' as Next
  let at = 0
  for (;;) {
    at = afterSpaces(text, at)
    const char = text[at] ?? ''
    const closing = open.at(-1)
    if (next === 'more' && closing === undefined) return { at, wanted: 'the end' }
    if (char !== '' && char === closing && (next === 'more' || next.startsWith('first'))) {
      open.pop()
      next = 'more'
      at += 1
    } else if (next === 'more') {
      if (char !== ',') return { at, wanted: `a comma or ${closing}` }
      next = closing === '}' ? 'name' : 'value'
      at += 1
    } else if (next === 'colon') {
      if (char !== ':') return { at, wanted: 'a colon' }
      next = 'value'
      at += 1
    } else if (char === '"') {
      const end = endOfString(text, at)
      if (typeof end !== 'number') return end
      next = next === 'name' || next === 'first name' ? 'colon' : 'more'
      at = end
    } else if (next === 'name' || next === 'first name') {
      return { at, wanted: next === 'name' ? 'a name in double quotes' : 'a name in double quotes or }' }
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']')
      next = char === '{' ? 'first name' : 'first value'
      at += 1
    } else {
      BARE.lastIndex = at
      const bare = BARE.exec(text)?.[0]
      if (bare === undefined) return { at, wanted: next === 'value' ? 'a value' : 'a value or ]' }
      next = 'more'
      at += bare.length
    }
  }
}

const BARE = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y

const afterSpaces = (text: string, from: number): number => {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}

/** The position after the closing quote. */
const endOfString = (text: string, from: number): number | Fault => {
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '"') return at + 1
    if (char < ' ')
      return { at, wanted: char === '\n' || char === '\r' ? '\\n for a line break, or of a closing quote' : 'an escape, such as \\t' }
    if (char !== '\\') continue
    ESCAPE.lastIndex = at
    if (!ESCAPE.test(text)) return { at, wanted: 'an escape that there is, such as \\\\' }
    at += 1
  }
  return { at: text.length, wanted: 'a closing quote' }
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
