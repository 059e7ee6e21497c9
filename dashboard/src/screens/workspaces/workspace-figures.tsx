/** The figures of a workspace in the list of all. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { usage } from '../../api/usage.ts'
import { budgetsOf, memberCountOf, type Workspace } from '../../api/workspaces.ts'
import { count, money } from '../../format.ts'
import { useNow } from '../../parts/when.tsx'
import { monthStart } from '../spend/month.ts'

const MINUTE_MS = 60_000
/** The most groups that sums have. */
const TOP = 50

export const MembersOf = ({ id }: { id: string }) => {
  const members = useQuery(memberCountOf(id)).data
  return <>{members === undefined ? '–' : count(members)}</>
}

export const BudgetOf = ({ id }: { id: string }) => {
  const budget = useQuery(budgetsOf(id)).data?.find(({ reset_interval: interval }) => interval === 'monthly')
  return <>{budget === undefined ? '–' : money(budget.limit_usd)}</>
}

/** All rows share one question. */
export const MonthSpend = ({ of: { id, slug } }: { of: Workspace }) => {
  const nowMs = Math.ceil(useNow() / MINUTE_MS) * MINUTE_MS
  const [from, to] = [monthStart(nowMs), new Date(nowMs).toISOString()]
  const sums = useQuery({
    ...usage({ from, to, interval: 'day', group_by: 'workspace', top: TOP }),
    placeholderData: (before) => before,
  }).data
  if (sums === undefined) return <>–</>
  const own = sums.groups.find(({ workspace }) => workspace === id)
  // Nobody sums those beyond the ones that cost most by themselves.
  if (own === undefined && sums.groups.some(({ other }) => other === true)) return <>–</>
  return (
    <Link to="/spend" search={{ workspace: slug, from, to }}>
      {money(own?.cost ?? 0)}
    </Link>
  )
}
