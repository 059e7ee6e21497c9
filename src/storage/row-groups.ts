/** Rows may be megabytes long or a few bytes: one statement takes no more of them than a step has time for (lib/steps.ts). */
import { LARGE_BYTES } from '../lib/steps.ts'

/** Neighbours that are no longer together than a step's work; a longer one is alone. */
export const rowGroups = <Row>(rows: readonly Row[], bytesOf: (row: Row) => number): readonly (readonly [Row, ...Row[]])[] => {
  const groups: [Row, ...Row[]][] = []
  let room = 0
  for (const row of rows) {
    const bytes = bytesOf(row)
    room -= bytes
    const group = groups.at(-1)
    if (group !== undefined && room >= 0 && group.length < ROWS_MAX) group.push(row)
    else {
      groups.push([row])
      room = LARGE_BYTES - bytes
    }
  }
  return groups
}

/** A statement has 32,766 parameters at the most in SQLite, and no table here has forty columns. */
const ROWS_MAX = 500
