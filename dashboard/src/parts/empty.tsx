import type { ReactNode } from 'react'

/** An empty list: one sentence and the one action to take. */
export const Empty = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <div className="empty">
    <p>{children}</p>
    {action}
  </div>
)
