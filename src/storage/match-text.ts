/** Pieces of texts, in upper or lower case: both engines fold ASCII letters and no others. The wildcards of LIKE are taken as text. */
import { type Expression, sql, type SqlBool } from 'kysely'

export const containsText = (column: Expression<string>, text: string) =>
  sql<SqlBool>`lower(${column}) like ${`%${escaped(lowerText(text))}%`} escape '\\'`

/** In this case alone, or, on SQLite, in any. */
export const holdsText = (column: Expression<string>, text: string) => sql<SqlBool>`${column} like ${`%${escaped(text)}%`} escape '\\'`

export const endsWithText = (column: Expression<string>, text: string) => sql<SqlBool>`${column} like ${`%${escaped(text)}`} escape '\\'`

/** In this case alone, so that an index has them side by side. */
export const beginsWithText = (value: Expression<string>, text: string) => sql<SqlBool>`${value} >= ${text} and ${value} < ${text + LAST}`

export const lowerText = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Behind every text that begins alike. */
const LAST = '\u{10ffff}'

const escaped = (text: string): string => text.replace(/[\\%_]/g, (sign) => `\\${sign}`)
