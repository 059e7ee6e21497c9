/** Names and notes of people, which columns of text hold. */
import { z } from 'zod'

/** Text that every engine stores as it is: PostgreSQL refuses U+0000, and neither keeps half a surrogate pair. */
export const storedText = z.string().refine((text) => text.isWellFormed() && !text.includes('\0'), 'Use well-formed text without U+0000.')

/** A name that lists show: one of white space alone could not be seen there. */
export const shownName = (most: number) => storedText.max(most).regex(/\S/, 'Write a name that is not blank.')
