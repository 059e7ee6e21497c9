/** The figures of a workspace in the list of workspaces. */
import { Link } from '@tanstack/react-router'

import type { ListedWorkspace } from '../../api/workspaces.ts'
import { count, money } from '../../format.ts'
import { Meter, NEAR } from '../../parts/meter.tsx'
import { useNow } from '../../parts/when.tsx'
import { monthStart } from '../spend/month.ts'
import { INTERVALS } from './intervals.ts'

const MINUTE_MS = 60_000

export const MonthSpend = ({ of: { slug, figures } }: { of: ListedWorkspace }) => {
  const nowMs = Math.ceil(useNow() / MINUTE_MS) * MINUTE_MS
  if (figures === undefined) return <>–</>
  const { budgets, spend_this_month: spent } = figures
  const budget = budgets.find(({ reset_interval: interval }) => interval === 'monthly')
  return (
    <span className="row end">
      <Link to="/spend" search={{ workspace: slug, from: monthStart(nowMs), to: new Date(nowMs).toISOString() }}>
        {money(spent)}
      </Link>
      {budget === undefined ? null : <Meter label={`Budget of ${slug}`} used={budget.spend_usd} limit={budget.limit_usd} />}
    </span>
  )
}

/** One that is nearly used up says how much of it is spent: the meter is that of the month alone. */
export const BudgetsOf = ({ of: { figures } }: { of: ListedWorkspace }) => (
  <>
    {figures?.budgets
      .map(({ limit_usd, spend_usd, reset_interval }) => {
        const budget = `${money(limit_usd)} ${INTERVALS[reset_interval ?? 'lifetime']}`
        return spend_usd < limit_usd * NEAR ? budget : `▲ ${money(spend_usd)} of ${budget}`
      })
      .join(', ') || '–'}
  </>
)

export const CreditOf = ({ of: { figures } }: { of: ListedWorkspace }) => {
  const credit = figures?.credit ?? null
  return <>{credit === null ? '–' : `${money(credit.total_credits - credit.total_usage)} of ${money(credit.total_credits)} left`}</>
}

export const KeysOf = ({ of: { slug, figures } }: { of: ListedWorkspace }) =>
  figures === undefined ? (
    <>–</>
  ) : (
    <Link to="/keys" search={{ workspace: slug }}>
      {count(figures.keys)}
    </Link>
  )
