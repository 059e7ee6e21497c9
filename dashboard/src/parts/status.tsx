/** A state as a mark and a word, since not everybody can distinguish colours. */
export const MARKS = {
  ok: '●',
  error: '▲',
  left: '◐',
  none: '◌',
  disabled: '⏸',
} as const

export type Mark = keyof typeof MARKS

export const Status = ({ mark, children }: { mark: Mark; children: string }) => (
  <span className={`status ${mark}`}>
    <span aria-hidden="true" className="mark">
      {MARKS[mark]}
    </span>
    {children}
  </span>
)
