/** The figures of a workspace in the list of workspaces. */
import { Link } from '@tanstack/react-router'

import type { ListedWorkspace } from '../../api/workspaces.ts'
import { count, money } from '../../format.ts'
import { Meter } from '../../parts/meter.tsx'
import { useNow } from '../../parts/when.tsx'
import { monthStart } from '../spend/month.ts'
import { INTERVALS } from './intervals.ts'

const MINUTE_MS = 60_000

export const MonthSpend = ({ of: { slug, figures } }: { of: ListedWorkspace }) => {
  const nowMs = Math.ceil(useNow() / MINUTE_MS) * MINUTE_MS
  if (figures === undefined) return <>–</>
  const { budgets, spend_this_month: spent } = figures
  const limit = budgets.find(({ reset_interval: interval }) => interval === 'monthly')?.limit_usd
  return (
    <span className="row end">
      <Link to="/spend" search={{ workspace: slug, from: monthStart(nowMs), to: new Date(nowMs).toISOString() }}>
        {money(spent)}
      </Link>
      {limit === undefined ? null : <Meter label={`Budget of ${slug}`} used={spent} limit={limit} />}
    </span>
  )
}

export const BudgetsOf = ({ of: { figures } }: { of: ListedWorkspace }) => (
  <>
    {figures?.budgets.map(({ limit_usd, reset_interval }) => `${money(limit_usd)} ${INTERVALS[reset_interval ?? 'lifetime']}`).join(', ') ||
      '–'}
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
