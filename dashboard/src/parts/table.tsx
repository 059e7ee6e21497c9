/** A table that fits on a page. Endless lists use parts/virtual-rows.tsx. */
import { type ReactNode, useRef } from 'react'

import { ScrollingFrame } from './scrolling-frame.tsx'
import { useFitting } from './use-fitting.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  readonly align?: 'right'
  /** Hidden on a phone, and where the table would otherwise be wider than its place, the last ones first. */
  readonly wideOnly?: boolean
  /** Texts that people wrote, of any length, including the name of a row: they wrap. */
  readonly isWords?: boolean
  /** The name of the row, which screen readers repeat with each cell. */
  readonly isHead?: boolean
}

interface TableProps<Row> {
  /** Describes the table to people who do not see what is around it. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Shown instead of the table if there are no rows. */
  readonly empty?: ReactNode
  readonly isSelected?: (row: Row) => boolean
}

export const Table = <Row,>({ empty, ...table }: TableProps<Row>) =>
  table.rows.length === 0 && empty !== undefined ? <>{empty}</> : <Rows {...table} />

const Rows = <Row,>({ label, columns: all, rows, rowKey, isSelected }: Omit<TableProps<Row>, 'empty'>) => {
  const frame = useRef<HTMLDivElement>(null)
  const spare = all.filter(({ wideOnly }) => wideOnly === true)
  const left = useFitting(frame, spare.length)
  const columns = left === 0 ? all : all.filter((column) => !spare.slice(-left).includes(column))
  return (
    <ScrollingFrame label={label} frame={frame}>
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={cellClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className={isSelected?.(row) === true ? 'selected' : undefined}>
              {columns.map((column) =>
                column.isHead === true ? (
                  <th key={column.title} scope="row" className={cellClass(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.title} className={cellClass(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollingFrame>
  )
}

const cellClass = <Row,>({ align, wideOnly, isWords, isHead }: Column<Row>): string | undefined =>
  [align === 'right' ? 'right number' : '', wideOnly === true ? 'wide-only' : '', isWords === true || isHead === true ? 'words' : '']
    .filter((name) => name !== '')
    .join(' ') || undefined
