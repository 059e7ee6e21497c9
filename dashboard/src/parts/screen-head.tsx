import type { ReactNode } from 'react'

/** The title of a screen, also as the title of the document, and the screen's actions. */
export const ScreenHead = ({ title, children }: { title: string; children?: ReactNode }) => (
  <header className="screen-head">
    <title>{`${title} · Patchbay`}</title>
    <h1 tabIndex={-1}>{title}</h1>
    <div className="screen-actions">{children}</div>
  </header>
)
