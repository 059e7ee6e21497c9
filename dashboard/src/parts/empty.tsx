import type { ReactNode } from 'react'

/** One sentence and the one thing to do. */
export const Empty = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <div className="empty">
    <p>{children}</p>
    {action}
  </div>
)
