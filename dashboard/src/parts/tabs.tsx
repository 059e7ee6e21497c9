/** Parts of a screen that are shown one at a time. The address holds which one, so each tab is a link. */
import { Link } from '@tanstack/react-router'

import { useCurrentInView } from './use-current-in-view.ts'

interface TabsProps {
  readonly label: string
  readonly tabs: readonly { readonly id: string; readonly title: string }[]
  readonly current: string
  /** The parameter of the address. The first tab is the one without it. */
  readonly parameter?: string
}

export const Tabs = ({ label, tabs, current, parameter = 'tab' }: TabsProps) => (
  <nav ref={useCurrentInView(current)} className="tabs" aria-label={label}>
    {tabs.map(({ id, title }, index) => (
      <Link
        key={id}
        to="."
        search={(search) => ({ ...search, [parameter]: index === 0 ? undefined : id })}
        replace
        className={id === current ? 'tab current' : 'tab'}
        aria-current={id === current ? 'page' : undefined}
        // Otherwise the first tab, whose link has no parameter, would be current together with every other tab.
        activeOptions={{ exact: true }}
        resetScroll={false}
      >
        {title}
      </Link>
    ))}
  </nav>
)

/** The tab that the address names; the first one if it names no existing tab. */
export const tabNamed = <Id extends string>(tabs: readonly [{ readonly id: Id }, ...(readonly { readonly id: Id }[])], name?: string): Id =>
  (tabs.find(({ id }) => id === name) ?? tabs[0]).id
