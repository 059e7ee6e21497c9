/** Parts of a screen that take each other's place. Which one is shown stands in the address, so each is a link. */
import { Link } from '@tanstack/react-router'

import { useCurrentInView } from './use-current-in-view.ts'

interface TabsProps {
  readonly label: string
  readonly tabs: readonly { readonly id: string; readonly title: string }[]
  readonly current: string
  /** The parameter of the address; the first tab leaves it out. */
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
        // Else the first one, which adds nothing to the address, would be current beside every other.
        activeOptions={{ exact: true }}
        resetScroll={false}
      >
        {title}
      </Link>
    ))}
  </nav>
)

/** The tab that the address names; the first one where it names none that there is. */
export const tabNamed = <Id extends string>(tabs: readonly [{ readonly id: Id }, ...(readonly { readonly id: Id }[])], name?: string): Id =>
  (tabs.find(({ id }) => id === name) ?? tabs[0]).id
