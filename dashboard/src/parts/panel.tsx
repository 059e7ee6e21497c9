/** A part of a screen. An exception in it leaves the rest of the page working. */
import { Component, type ReactNode, useId } from 'react'

import { isMissingScript } from '../new-version.ts'
import { ErrorNote } from './error-note.tsx'

interface PanelProps {
  readonly title: string
  /** Hides the title, for a panel whose title the screen shows already. */
  readonly quiet?: boolean
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export const Panel = ({ title, quiet = false, actions, children }: PanelProps) => {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <header className={quiet ? 'hidden-text' : 'panel-head'}>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      <FaultBoundary>{children}</FaultBoundary>
    </section>
  )
}

/** React offers error boundaries only as classes. */
export class FaultBoundary extends Component<{ readonly children: ReactNode }, { readonly fault: unknown }> {
  override state: { readonly fault: unknown } = { fault: null }

  static getDerivedStateFromError(fault: unknown): { readonly fault: unknown } {
    return {
      fault: isMissingScript(fault)
        ? new Error('This part of the page could not be loaded. Reload the page once the service answers.')
        : fault,
    }
  }

  override render(): ReactNode {
    const { fault } = this.state
    return fault === null ? this.props.children : <ErrorNote error={fault} again={() => this.setState({ fault: null })} />
  }
}
