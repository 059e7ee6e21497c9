/** The figures of a workspace in the list of workspaces. */
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'

import type { ListedWorkspace } from '../../api/workspaces.ts'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
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
        <Money of={spent} />
      </Link>
      {budget === undefined ? null : <Meter label={`Budget of ${slug}`} used={budget.spend_usd} limit={budget.limit_usd} />}
    </span>
  )
}

/** One that is nearly used up says how much of it is spent: the meter is that of the month alone. */
export const BudgetsOf = ({ of: { figures } }: { of: ListedWorkspace }) => (
  <>
    {figures?.budgets.map(({ limit_usd, spend_usd, reset_interval: interval }, index) => (
      <Fragment key={interval}>
        {index === 0 ? '' : ', '}
        {spend_usd < limit_usd * NEAR ? null : (
          <>
            ▲ <Money of={spend_usd} /> of{' '}
          </>
        )}
        <Money of={limit_usd} /> {INTERVALS[interval ?? 'lifetime']}
      </Fragment>
    ))}
    {figures === undefined || figures.budgets.length === 0 ? '–' : null}
  </>
)

export const CreditOf = ({ of: { figures } }: { of: ListedWorkspace }) => {
  const credit = figures?.credit ?? null
  if (credit === null) return <>–</>
  return (
    <>
      <Money of={credit.total_credits - credit.total_usage} /> of <Money of={credit.total_credits} /> left
    </>
  )
}

export const KeysOf = ({ of: { slug, figures } }: { of: ListedWorkspace }) =>
  figures === undefined ? (
    <>–</>
  ) : (
    <Link to="/keys" search={{ workspace: slug }}>
      {count(figures.keys)}
    </Link>
  )
