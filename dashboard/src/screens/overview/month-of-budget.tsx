import { Link } from '@tanstack/react-router'

import { money } from '../../format.ts'
import { useNow } from '../../parts/when.tsx'
import { monthStart } from '../spend/month.ts'
import { countedCost, nextMinute, useMonthBudget, useMonthCost } from '../spend/month-budget.ts'
import type { Scope } from './scope.ts'

/** A budget is for a month, whatever range the other figures have. The figure comes last, so that no other one moves when it appears. */
export const MonthOfBudget = ({ workspace }: Pick<Scope, 'workspace'>) => {
  const nowMs = nextMinute(useNow())
  const filter = workspace === undefined ? {} : { workspace_id: workspace }
  const budget = useMonthBudget(filter)
  const month = useMonthCost(filter, nowMs, budget !== undefined)
  if (budget === undefined || month === undefined) return null
  const counted = countedCost(month, budget)
  const isSpent = counted >= budget.limit_usd
  return (
    <div>
      <dt>Spend this month, of its budget</dt>
      <dd className={isSpent ? 'bad' : undefined}>
        <Link to="/spend" search={{ from: monthStart(nowMs), to: new Date(nowMs).toISOString() }}>
          {isSpent ? <span aria-hidden="true">▲ </span> : null}
          {money(counted)} of {money(budget.limit_usd)}
        </Link>
      </dd>
    </div>
  )
}
