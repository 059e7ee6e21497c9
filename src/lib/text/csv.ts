/** Rows of a table in CSV (RFC 4180), safe to open in a spreadsheet. */

export type CsvCell = string | number | boolean | null

export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellText).join(',')}\r\n`

const cellText = (cell: CsvCell): string => {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = cell.replaceAll(FORMULA, "$&'")
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * The places where a spreadsheet would begin a cell with a formula, even after characters that it does not show. Where a country writes
 * decimal commas, a semicolon begins a cell, and quotes within a line do not count.
 */
const FORMULA = /(?:^|[;\t\r\n])(?=(?:"|[^\p{L}\p{N}\p{P}\p{S}\t\r\n])*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])|^(?=[\t\r\n])/gu
