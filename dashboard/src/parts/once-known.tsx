import type { ReactNode } from 'react'

import { Skeleton } from './loaded.tsx'

interface OnceKnownProps {
  /** True if all that stands above is known, which would otherwise push this down, and from under a click. */
  readonly isKnown: boolean
  readonly rows: number
  readonly children: ReactNode
}

/** It is hidden until then and not left out, so that it asks for its data meanwhile. */
export const OnceKnown = ({ isKnown, rows, children }: OnceKnownProps) => (
  <>
    {isKnown ? null : <Skeleton rows={rows} />}
    <div hidden={!isKnown}>{children}</div>
  </>
)
