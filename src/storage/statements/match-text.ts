/** Conditions that search for a piece of text. The wildcards of LIKE are taken literally. */
import { type Expression, sql, type SqlBool } from 'kysely'

/** In either case. Both engines fold only ASCII letters, so each other letter of the text is folded in the column too. */
export const containsText = (column: Expression<string | null>, text: string) => {
  const others = letterPairs(text)
  const folded = others.reduce((inner, [upper, lower]) => sql<string>`replace(${inner}, ${upper}, ${lower})`, sql<string>`lower(${column})`)
  const wanted = others.reduce((inner, [upper, lower]) => inner.replaceAll(upper, lower), lowerText(text))
  return sql<SqlBool>`${folded} like ${`%${escaped(wanted)}%`} escape '\\'`
}

/** Case-sensitive, as the next ones are: SQLite's LIKE is not, and it has no other comparison with a piece that PostgreSQL has too. */
export const holdsText = (column: Expression<string>, text: string) => sql<SqlBool>`replace(${column}, ${text}, '') <> ${column}`

export const endsWithText = (column: Expression<string>, text: string) =>
  sql<SqlBool>`substr(${column}, length(${column}) - ${sql.lit([...text].length - 1)}) = ${text}`

/** The matches are adjacent in an index. */
export const beginsWithText = (value: Expression<string>, text: string) => sql<SqlBool>`${value} >= ${text} and ${value} < ${text + LAST}`

export const lowerText = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Sorts after every text with the same beginning. */
const LAST = '\u{10ffff}'

/** The letters beyond ASCII that have two cases. Those whose other case is several letters (ß) have one case here. */
const letterPairs = (text: string): readonly (readonly [upper: string, lower: string])[] =>
  [...new Map([...text].map((letter) => [letter.toLowerCase(), [letter.toUpperCase(), letter.toLowerCase()] as const])).values()]
    .filter(([upper, lower]) => upper !== lower && lower > '\x7f' && [...upper].length === 1 && [...lower].length === 1)
    .slice(0, PAIRS_MAX)

/** More than the letters of an alphabet. Each costs work for every row. */
const PAIRS_MAX = 40

const escaped = (text: string): string => text.replace(/[\\%_]/g, (sign) => `\\${sign}`)
