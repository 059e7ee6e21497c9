/**
 * Groups rows for reading: rows may be megabytes long or a few bytes, and no statement reads
 * more of them than fit in a step (lib/steps.ts).
 */
import { LARGE_BYTES } from '../../lib/steps.ts'

/** Neighbouring rows are grouped up to the size of a step; a longer row is a group of its own. */
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

/** SQLite allows at most 32,766 parameters in a statement, and no table here has forty columns. */
const ROWS_MAX = 500
