/** Rows of a table in CSV (RFC 4180), safe to open in a spreadsheet. */

export type CsvCell = string | number | boolean | null

export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellText).join(',')}\r\n`

const cellText = (cell: CsvCell): string => {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  // A spreadsheet would run a cell that begins like a formula, even after characters that it does not show.
  const text = /^[^\p{L}\p{N}\p{P}\p{S}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
