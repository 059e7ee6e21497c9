/**
 * Shows a query: placeholder rows of the final height while it is first fetched, the error if it fails, and old data while newer is
 * fetched.
 */
import type { ReactNode } from 'react'

import { ErrorNote } from './error-note.tsx'

/** A query as far as it is shown. */
export interface Loading<Data> {
  readonly data: Data | undefined
  readonly error: Error | null
  readonly refetch: () => Promise<unknown>
}

interface LoadedProps<Data> {
  readonly query: Loading<Data>
  /** The number of placeholder rows. */
  readonly rows?: number
  readonly children: (data: Data) => ReactNode
}

export const Loaded = <Data,>({ query, rows = 3, children }: LoadedProps<Data>) => {
  if (query.data !== undefined) {
    return (
      <>
        {query.error === null ? null : <StaleNote again={() => void query.refetch()} />}
        {children(query.data)}
      </>
    )
  }
  if (query.error !== null) return <ErrorNote error={query.error} again={() => void query.refetch()} />
  return <Skeleton rows={rows} />
}

const StaleNote = ({ again }: { again: () => void }) => (
  <p className="note warn small">
    This is what was last known.{' '}
    <button type="button" className="link-button" onClick={again}>
      Try again
    </button>
  </p>
)

export const Skeleton = ({ rows }: { rows: number }) => (
  <div className="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <div className="skeleton-row" key={row} />
    ))}
  </div>
)
