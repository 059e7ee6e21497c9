import type { ReactNode } from 'react'

interface ScreenHeadProps {
  readonly title: string
  /** The page is about an object that is shown beside the screen, and has its title. */
  readonly isBeside?: boolean
  readonly children?: ReactNode
}

/** The title of a screen, also as the title of the document, and the screen's actions. */
export const ScreenHead = ({ title, isBeside = false, children }: ScreenHeadProps) => (
  <header className="screen-head">
    {isBeside ? (
      <h2 className="screen-title">{title}</h2>
    ) : (
      <>
        <title>{`${title} · Patchbay`}</title>
        <h1 tabIndex={-1}>{title}</h1>
      </>
    )}
    <div className="screen-actions">{children}</div>
  </header>
)
