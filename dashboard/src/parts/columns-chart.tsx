/**
 * Stacked columns over time. The pointer or the arrow keys move over the columns, a click or Enter opens one, and dragging selects a range.
 * A hidden table has the same values for screen readers.
 */
import { type KeyboardEvent, type PointerEvent, useId, useRef, useState } from 'react'

/** Two may have the same name, as two keys may, so each is known by its position. */
export interface Series {
  readonly name: string
  /** A variable of tokens.css; if absent, the next of the eight hues. */
  readonly color?: string
  /** Drawn with stripes, so that errors can be recognised without colour. */
  readonly isStriped?: boolean
}

export interface Slot {
  /** ISO 8601. */
  readonly from: string
  readonly to: string
  /** The name of the slot on the axis, in the tooltip and in the table. */
  readonly label: string
  /** One value for each series. */
  readonly values: readonly number[]
}

interface ColumnsChartProps {
  readonly label: string
  readonly series: readonly Series[]
  readonly slots: readonly Slot[]
  readonly format: (value: number) => string
  /** Writes the highest column on the axis, with its unit; as `format` does if absent. */
  readonly formatTop?: (value: number) => string
  readonly height?: number
  /** Called with the start and end of the selected columns, and their number: one, or as many as were dragged over. */
  readonly onOpen?: (from: string, to: string, columns: number) => void
}

const HUES = 8
/** The series after the last hue combines all the rest, in grey. */
const hueOf = (index: number): string => (index < HUES ? `var(--hue-${index + 1})` : 'var(--faint)')

export const ColumnsChart = ({ label, series, slots, format, formatTop = format, height = 96, onOpen }: ColumnsChartProps) => {
  const id = useId()
  const frame = useRef<SVGSVGElement>(null)
  const [at, setAt] = useState<number | null>(null)
  const [since, setSince] = useState<number | null>(null)
  /** A pointer passes over many columns, of which nobody wants to hear. */
  const [isByKeys, setByKeys] = useState(false)
  const most = Math.max(...slots.map(({ values }) => total(values)), 0)
  const top = most || 1
  const slotAt = (event: PointerEvent): number => {
    const box = frame.current?.getBoundingClientRect()
    if (box === undefined || box.width === 0) return 0
    return Math.max(0, Math.min(slots.length - 1, Math.floor(((event.clientX - box.left) / box.width) * slots.length)))
  }
  const open = (one: number, other: number): void => {
    const [first, last] = [slots[Math.min(one, other)], slots[Math.max(one, other)]]
    if (first !== undefined && last !== undefined) onOpen?.(first.from, last.to, Math.abs(other - one) + 1)
  }
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setByKeys(true)
      setAt(Math.max(0, Math.min(slots.length - 1, (at ?? (step > 0 ? -1 : slots.length)) + step)))
    } else if (event.key === 'Enter' && at !== null) open(at, at)
  }
  const shown = at === null ? undefined : slots[at]
  return (
    <figure className="chart">
      <div className="chart-top" aria-hidden="true">
        <span className="number">{most === 0 ? '' : formatTop(most)}</span>
        <span className="chart-tip">{shown === undefined ? '' : tipOf(shown, series, format)}</span>
      </div>
      <svg
        ref={frame}
        role="group"
        aria-label={`${label}. Arrow keys move, Enter opens.`}
        aria-describedby={`${id}-at`}
        tabIndex={0}
        viewBox={`0 0 ${slots.length || 1} 100`}
        preserveAspectRatio="none"
        height={height}
        onPointerMove={(event) => {
          setByKeys(false)
          setAt(slotAt(event))
        }}
        onPointerLeave={() => setAt(null)}
        onPointerDown={(event) => setSince(slotAt(event))}
        onPointerUp={(event) => {
          if (since !== null) open(since, slotAt(event))
          setSince(null)
        }}
        onKeyDown={press}
        className={onOpen === undefined ? undefined : 'opens'}
      >
        <defs>
          <pattern id={`${id}-stripes`} width="0.5" height="6" patternUnits="userSpaceOnUse">
            <rect width="1" height="6" fill="var(--bad)" />
            <rect width="1" height="2" fill="var(--bg)" />
          </pattern>
        </defs>
        {slots.map((slot, index) => (
          <g key={slot.from}>
            {isBetween(index, since, at) ? <rect x={index} y={0} width={1} height={100} fill="var(--hover)" /> : null}
            {stack(slot.values, top).map(({ y, size }, position) =>
              size === 0 ? null : (
                <rect
                  key={position}
                  x={index + 0.1}
                  width={0.8}
                  y={y}
                  height={size}
                  fill={
                    series[position]?.isStriped === true
                      ? `url(#${CSS.escape(`${id}-stripes`)})`
                      : (series[position]?.color ?? hueOf(position))
                  }
                />
              ),
            )}
          </g>
        ))}
      </svg>
      <div className="chart-axis" aria-hidden="true">
        <span>{slots[0]?.label}</span>
        <span>{slots.at(-1)?.label}</span>
      </div>
      {series.length > 1 ? (
        <ul className="legend">
          {series.map(({ name, color, isStriped }, index) => (
            <li key={index}>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect width="10" height="10" rx="2" fill={isStriped === true ? 'var(--bad)' : (color ?? hueOf(index))} />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      ) : null}
      <p id={`${id}-at`} className="hidden-text" aria-live="polite">
        {shown === undefined || !isByKeys ? '' : tipOf(shown, series, format)}
      </p>
      {/* The table has a wrapper because a table is as wide as its content, whatever its style says. */}
      <div className="hidden-text">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }, index) => (
                <th scope="col" key={index}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {slots.map((slot) => (
              <tr key={slot.from}>
                <th scope="row">{slot.label}</th>
                {series.map((_, index) => (
                  <td key={index}>{format(slot.values[index] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

const tipOf = ({ label, values }: Slot, series: readonly Series[], format: (value: number) => string): string =>
  `${label}: ${series.map(({ name }, index) => `${name} ${format(values[index] ?? 0)}`).join(', ')}`

const isBetween = (index: number, since: number | null, at: number | null): boolean =>
  at !== null && index >= Math.min(since ?? at, at) && index <= Math.max(since ?? at, at)

/** Stacks from the bottom; a value above zero is at least a line high. */
const stack = (values: readonly number[], top: number): readonly { y: number; size: number }[] => {
  let bottom = 100
  return values.map((value) => {
    const size = value === 0 ? 0 : Math.max(1.5, (value / top) * 98)
    bottom -= size
    return { y: bottom, size }
  })
}
