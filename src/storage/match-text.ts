/**
 * Conditions that search for a piece of text in either case: both engines fold only ASCII
 * letters. The wildcards of LIKE are taken literally.
 */
import { type Expression, sql, type SqlBool } from 'kysely'

export const containsText = (column: Expression<string>, text: string) =>
  sql<SqlBool>`lower(${column}) like ${`%${escaped(lowerText(text))}%`} escape '\\'`

/** Case-sensitive, as the next ones are: SQLite's LIKE is not, and it has no other comparison with a piece that PostgreSQL has too. */
export const holdsText = (column: Expression<string>, text: string) => sql<SqlBool>`replace(${column}, ${text}, '') <> ${column}`

export const endsWithText = (column: Expression<string>, text: string) =>
  sql<SqlBool>`substr(${column}, length(${column}) - ${sql.lit([...text].length - 1)}) = ${text}`

/** The matches are adjacent in an index. */
export const beginsWithText = (value: Expression<string>, text: string) => sql<SqlBool>`${value} >= ${text} and ${value} < ${text + LAST}`

export const lowerText = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Sorts after every text with the same beginning. */
const LAST = '\u{10ffff}'

const escaped = (text: string): string => text.replace(/[\\%_]/g, (sign) => `\\${sign}`)
