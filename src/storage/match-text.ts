/**
 * Conditions that search for a piece of text in either case: both engines fold only ASCII
 * letters. The wildcards of LIKE are taken literally.
 */
import { type Expression, sql, type SqlBool } from 'kysely'

export const containsText = (column: Expression<string>, text: string) =>
  sql<SqlBool>`lower(${column}) like ${`%${escaped(lowerText(text))}%`} escape '\\'`

/** Case-sensitive, except on SQLite. */
export const holdsText = (column: Expression<string>, text: string) => sql<SqlBool>`${column} like ${`%${escaped(text)}%`} escape '\\'`

export const endsWithText = (column: Expression<string>, text: string) => sql<SqlBool>`${column} like ${`%${escaped(text)}`} escape '\\'`

/** Case-sensitive, so that the matches are adjacent in an index. */
export const beginsWithText = (value: Expression<string>, text: string) => sql<SqlBool>`${value} >= ${text} and ${value} < ${text + LAST}`

export const lowerText = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Sorts after every text with the same beginning. */
const LAST = '\u{10ffff}'

const escaped = (text: string): string => text.replace(/[\\%_]/g, (sign) => `\\${sign}`)
