import { Link } from '@tanstack/react-router'

import { Money } from '../../parts/amount.tsx'
import { NEAR } from '../../parts/meter.tsx'
import { useNow } from '../../parts/when.tsx'
import { monthStart } from '../spend/month.ts'
import { countedCost, nextMinute, useMonthBudget, useMonthCost } from '../spend/month-budget.ts'
import type { Scope } from './scope.ts'
import { percent } from '../../units.ts'

/** A budget is for a month, whatever range the other figures have. The figure comes last, so that no other one moves when it appears. */
export const MonthOfBudget = ({ workspace }: Pick<Scope, 'workspace'>) => {
  const nowMs = nextMinute(useNow())
  const filter = workspace === undefined ? {} : { workspace_id: workspace }
  const budget = useMonthBudget(filter)
  const month = useMonthCost(filter, nowMs, budget !== undefined)
  if (budget === undefined || month === undefined) return null
  const counted = countedCost(month, budget)
  const [title, look] = stateOf(counted, budget.limit_usd)
  return (
    <div>
      <dt>{title}</dt>
      <dd className={look}>
        <Link to="/spend" search={{ from: monthStart(nowMs), to: new Date(nowMs).toISOString() }}>
          {look === undefined ? null : <span aria-hidden="true">▲ </span>}
          <Money of={counted} /> of <Money of={budget.limit_usd} />
        </Link>
      </dd>
    </div>
  )
}

const stateOf = (spent: number, limit: number): readonly [title: string, look?: 'bad' | 'warn'] => {
  if (spent >= limit) return ['Spend this month: its budget is used up', 'bad']
  if (spent >= limit * NEAR) return [`Spend this month, ${percent(spent / limit)} of its budget`, 'warn']
  return ['Spend this month, of its budget']
}
