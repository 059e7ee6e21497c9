/** Which columns of an endless list there is space for (decisions/0185). All sizes are in rem, since text grows with the font size of the browser. */

interface ColumnSize {
  /** The space that its usual content needs. */
  readonly width: number
  /** Takes a share of the space that is left. */
  readonly grows?: boolean
  /** Columns without a rank are always shown. Of the others, a lower rank stays longer. */
  readonly rank?: number
}

/** The space between two columns, as the style sheet has it. */
const GAP = 0.625

export const columnsThatFit = <Column extends ColumnSize>(columns: readonly Column[], space: number): readonly Column[] => {
  const always = columns.filter(({ rank }) => rank === undefined)
  const shown = new Set(always)
  let left = space - always.reduce((sum, { width }) => sum + width + GAP, -GAP)
  for (const column of columns.filter((one) => !shown.has(one)).toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0))) {
    if (column.width + GAP > left) continue
    shown.add(column)
    left -= column.width + GAP
  }
  return columns.filter((column) => shown.has(column))
}

/** The tracks of the CSS grid. */
export const tracksOf = (columns: readonly ColumnSize[]): string =>
  columns.map(({ width, grows }) => (grows === true ? `minmax(0, ${width}fr)` : `${width}rem`)).join(' ')
