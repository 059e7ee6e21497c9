/** The cost of this month so far, its forecast, and its budget. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'

import { currentSession } from '../../api/session.ts'
import { usage } from '../../api/usage.ts'
import { budgetsOf, workspaceList } from '../../api/workspaces.ts'
import { money } from '../../format.ts'
import type { Figure } from '../../parts/figures.tsx'
import { Meter } from '../../parts/meter.tsx'
import { useNow } from '../../parts/when.tsx'
import { forecastOf, monthStart } from './month.ts'
import type { SpendFilterValues } from './spend-groups.ts'

const MINUTE_MS = 60_000

/** The figures stand from the beginning, so that nothing moves when they come. */
export const useMonth = (filter: SpendFilterValues): readonly Figure[] => {
  const nowMs = Math.ceil(useNow() / MINUTE_MS) * MINUTE_MS
  const sums = useQuery({
    ...usage({ ...filter, from: monthStart(nowMs), to: new Date(nowMs).toISOString(), interval: 'day' }),
    placeholderData: (before) => before,
  })
  const budget = useBudget(filter)
  const month = sums.data === undefined ? undefined : (sums.data.groups[0] ?? { cost: 0, byok_cost: 0 })
  const counted = month === undefined ? 0 : month.cost + (budget?.include_byok_in_budgets === true ? month.byok_cost : 0)
  const isOver = budget !== undefined && forecastOf(counted, nowMs) > budget.limit_usd
  return [
    { name: 'This month, UTC', value: money(month?.cost) },
    { name: 'Forecast for the month', value: money(month === undefined ? null : forecastOf(month.cost, nowMs)) },
    ...(budget === undefined
      ? []
      : [
          {
            name: isOver ? '▲ Budget a month, below the forecast' : 'Budget a month',
            value: (
              <span className="row">
                {money(budget.limit_usd)} <Meter label="Budget of the month" used={counted} limit={budget.limit_usd} />
              </span>
            ),
          },
        ]),
  ]
}

/** The monthly budget of the one workspace that is shown, where nothing narrows the sums further. */
const useBudget = ({ workspace_id: chosen, ...others }: SpendFilterValues) => {
  const session = useQuery(currentSession).data
  const isWhole = session?.role === 'admin' && Object.keys(others).length === 0
  const all = useInfiniteQuery({ ...workspaceList, enabled: isWhole && session.is_operator && chosen === undefined })
  const only = all.data?.length === 1 && !all.hasNextPage ? all.data[0]?.id : undefined
  const workspace = chosen ?? (session?.is_operator === false ? session.workspace_id : only)
  const budgets = useQuery({ ...budgetsOf(workspace ?? ''), enabled: isWhole && workspace !== undefined })
  return isWhole ? budgets.data?.find(({ reset_interval: interval }) => interval === 'monthly') : undefined
}
