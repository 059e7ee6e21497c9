/** A state as a mark and a word, since not everybody can distinguish colours. */
import type { ReactNode } from 'react'

export const MARKS = {
  ok: '●',
  error: '▲',
  left: '◐',
  none: '◌',
  disabled: '⏸',
} as const

export type Mark = keyof typeof MARKS

export const Status = ({ mark, children }: { mark: Mark; children: ReactNode }) => (
  <span className={`status ${mark}`}>
    <span aria-hidden="true" className="mark">
      {MARKS[mark]}
    </span>
    {children}
  </span>
)
