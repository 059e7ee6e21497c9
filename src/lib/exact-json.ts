/**
 * JSON whose large integers survive: one beyond a double's reach is kept as it was written, and written again so by
 * JSON.stringify. Arguments of tools hold such numbers, as ids.
 */

/** As JSON.parse, at its price where no number is that long. Throws SyntaxError. */
export const parseExact = (text: string): unknown => (LONG_INTEGER.test(text) ? keepingExact(text) : JSON.parse(text))

/** The same for text that is known to hold one. */
export const keepingExact = (text: string): unknown => JSON.parse(text, keepExact)

/** Says whether the value is an integer that was kept as text: for those who need a number, it is none. */
export const isExactInteger = (value: unknown): boolean => exact.isRawJSON(value)

/** The shortest integer that a double cannot hold has 16 digits. In a string such digits seldom stand between the same signs. */
const LONG_INTEGER = /(?:^|[:,[\s])-?\d{16,}\s*(?:[,\]}]|$)/
const INTEGER = /^-?\d+$/

interface ExactJson {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

/** Part of the language since 2025, and not yet in the type library. */
const exact = JSON as unknown as ExactJson

const keepExact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' &&
  !Number.isSafeInteger(value) &&
  context?.source !== undefined &&
  INTEGER.test(context.source) &&
  String(value) !== context.source
    ? exact.rawJSON(context.source)
    : value
