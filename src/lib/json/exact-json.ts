/**
 * JSON whose large integers survive: an integer that a double cannot hold is kept as it was written, and JSON.stringify writes it the
 * same way. Tool arguments contain such numbers, for example as ids.
 */

/** Like JSON.parse, and as fast if no number is that long. Throws SyntaxError. */
export const parseExact = (text: string): unknown => (LONG_INTEGER.test(text) ? keepingExact(text) : JSON.parse(text))

/** Like `parseExact`, for text that is known to contain a large integer. */
export const keepingExact = (text: string): unknown => JSON.parse(text, keepExact)

/** True if the value is an integer that was kept as text. Callers that need a number must not use it as one. */
export const isExactInteger = (value: unknown): boolean => exact.isRawJSON(value)

/** The shortest integer that a double cannot hold has 16 digits. Inside a string, such digits seldom stand between the same characters. */
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
