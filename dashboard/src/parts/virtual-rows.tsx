/** An endless list of which only the rows in view are rendered. j and k move through it, Enter opens a row. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'react'

import { useKeys } from '../shell/keyboard.ts'
import { columnsThatFit, tracksOf } from './fitting-columns.ts'
import { remPx, useWidth } from './use-width.ts'

export interface RowColumn<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** In rem. */
  readonly width: number
  /** Takes a share of the space that is left. */
  readonly grows?: boolean
  /** A column with a rank is left out where there is no space for it, the highest rank first. */
  readonly rank?: number
  readonly align?: 'right'
}

interface VirtualRowsProps<Row> {
  readonly label: string
  readonly columns: readonly RowColumn<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly selected: string | null
  /** Called when the end of the list is near, to load more. */
  readonly onEnd: () => void
  /** Shown after the last row. */
  readonly foot: ReactNode
  readonly scroller: RefObject<HTMLDivElement | null>
  /** Called when the keys have moved to this row. */
  readonly onMove?: (row: Row) => void
}

/** The height of a row, `--row` of the style sheet. */
const ROW_REM = 2.125

/** The space at both sides of a row. */
const MARGINS_REM = 1

export const VirtualRows = <Row,>({
  label,
  columns: wanted,
  rows,
  rowKey,
  selected,
  onEnd,
  foot,
  scroller,
  onMove,
}: VirtualRowsProps<Row>) => {
  const space = useWidth(scroller) - MARGINS_REM
  const columns = useMemo(() => columnsThatFit(wanted, space), [wanted, space])
  const rowPx = useMemo(() => ROW_REM * remPx(), [])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 6,
    getItemKey: (index) => {
      const row = rows[index]
      return row === undefined ? index : rowKey(row)
    },
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const asked = useRef(0)
  useEffect(() => {
    if (rows.length === 0 || last < rows.length - 20 || asked.current === rows.length) return
    asked.current = rows.length
    onEnd()
  }, [last, rows.length, onEnd])
  /** The row that the keys have moved to. It takes the focus once it is rendered. */
  const current = useRef<string | null>(null)
  const isWanted = useRef(false)
  const focusWanted = useCallback((): void => {
    if (!isWanted.current || current.current === null) return
    const link = scroller.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(current.current)}"] a`)
    if (link === undefined || link === null) return
    isWanted.current = false
    link.focus({ preventScroll: true })
  }, [scroller])
  useLayoutEffect(focusWanted)
  const move = (step: number): void => {
    const at = current.current ?? selected
    const index = at === null ? (step > 0 ? 0 : rows.length - 1) : rows.findIndex((row) => rowKey(row) === at) + step
    const row = rows[index]
    if (row === undefined) return
    current.current = rowKey(row)
    isWanted.current = true
    virtual.scrollToIndex(index)
    onMove?.(row)
    focusWanted()
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  const template = tracksOf(columns)
  return (
    <div className="rows-frame" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      <div role="rowgroup">
        <div className="rows-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {columns.map(({ title, align }) => (
            <span key={title} role="columnheader" className={align}>
              {title}
            </span>
          ))}
        </div>
      </div>
      <div
        className="rows-scroller"
        // The router uses it to restore the scroll position after Back, whatever is above the list then.
        data-scroll-restoration-id={label}
        ref={scroller}
        role="rowgroup"
        tabIndex={-1}
        onFocus={(event) => {
          current.current = event.target.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? current.current
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step === 0) return
          event.preventDefault()
          move(step)
        }}
      >
        <div className="rows-space" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows[index]
            if (row === undefined) return null
            const id = rowKey(row)
            return <DrawnRow key={key} {...{ row, id, index, start, columns, template }} isSelected={id === selected} />
          })}
        </div>
        <div role="presentation">{foot}</div>
      </div>
    </div>
  )
}

interface RowProps<Row> extends Pick<VirtualRowsProps<Row>, 'columns'> {
  readonly row: Row
  readonly id: string
  readonly index: number
  /** The distance from the top of the list, in pixels. */
  readonly start: number
  readonly template: string
  readonly isSelected: boolean
}

const RowOnce = <Row,>({ row, id, index, start, columns, template, isSelected }: RowProps<Row>) => (
  <div
    role="row"
    aria-rowindex={index + 2}
    data-row={id}
    className={isSelected ? 'rows-row selected' : 'rows-row'}
    style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
  >
    {columns.map(({ title, align, cell }) => (
      <span key={title} role="cell" dir="auto" className={align === 'right' ? 'right number cut' : 'cut'}>
        {cell(row)}
      </span>
    ))}
  </div>
)

/** A row that stays in view is not rendered again while the list scrolls. The type of `memo` loses the type of the row, hence the cast. */
const DrawnRow = memo(RowOnce) as typeof RowOnce
