/** Names and notes of people, which columns of text hold. */
import { z } from 'zod'

/** Text that every engine stores as it is: PostgreSQL refuses U+0000, and neither keeps half a surrogate pair. */
export const storedText = z.string().refine((text) => text.isWellFormed() && !text.includes('\0'), 'Use well-formed text without U+0000.')

/**
 * Control characters, lone surrogates, line breaks, and characters that reorder the text around them. The marks U+200E, U+200F and U+061C
 * reorder no letters, and names in Arabic and Hebrew need them beside punctuation.
 */
const NOT_IN_A_LINE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

const inOneLine = (text: z.ZodString) =>
  text.refine(
    (line) => line.search(NOT_IN_A_LINE) < 0,
    'Use one line of well-formed text, without control characters and those that reorder text (U+202E and the like).',
  )

/** Text that lists, tables and terminals show in one line, and in the order in which it is stored (decisions/0243). */
export const oneLine = inOneLine(z.string())

/** A name that lists show: one of white space alone could not be seen there. */
export const shownName = (most: number) => named(oneLine, most)

/** A shown name that is stored without the white space around it. */
export const trimmedName = (most: number) => named(inOneLine(z.string().trim()), most)

/** The text with a space in the place of each character that a line may not hold. */
export const asOneLine = (text: string): string => text.replaceAll(NOT_IN_A_LINE, ' ')

const named = (text: typeof oneLine, most: number) => text.max(most).regex(/\S/, 'Write a name that is not blank.')
