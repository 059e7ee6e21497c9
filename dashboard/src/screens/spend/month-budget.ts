/** The cost of this month (UTC), and its budget. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'

import { currentSession } from '../../api/session.ts'
import { usage, type UsageSums } from '../../api/usage.ts'
import { budgetsOf, workspaceList } from '../../api/workspaces.ts'
import { monthStart } from './month.ts'
import type { SpendFilterValues } from './spend-groups.ts'

const MINUTE_MS = 60_000

/** Rounds up to the minute, so that the sums are fetched at most once a minute. */
export const nextMinute = (nowMs: number): number => Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS

type MonthCost = Pick<UsageSums, 'cost' | 'byok_cost'>

/** Undefined until the sums are loaded, and if they are not wanted. */
export const useMonthCost = (filter: SpendFilterValues, nowMs: number, isWanted = true): MonthCost | undefined => {
  const sums = useQuery({
    ...usage({ ...filter, from: monthStart(nowMs), to: new Date(nowMs).toISOString(), interval: 'day' }),
    placeholderData: (before) => before,
    enabled: isWanted,
  })
  return sums.data === undefined ? undefined : (sums.data.groups[0] ?? { cost: 0, byok_cost: 0 })
}

/** The monthly budget of the one workspace that is shown, if no other filter narrows the sums. */
export const useMonthBudget = ({ workspace_id: chosen, ...others }: SpendFilterValues) => {
  const session = useQuery(currentSession).data
  const isWhole = session?.role === 'admin' && Object.keys(others).length === 0
  const all = useInfiniteQuery({ ...workspaceList, enabled: isWhole && session.is_operator && chosen === undefined })
  const only = all.data?.length === 1 && !all.hasNextPage ? all.data[0]?.id : undefined
  const workspace = chosen ?? (session?.is_operator === false ? session.workspace_id : only)
  const budgets = useQuery({ ...budgetsOf(workspace ?? ''), enabled: isWhole && workspace !== undefined })
  return isWhole ? budgets.data?.find(({ reset_interval: interval }) => interval === 'monthly') : undefined
}

/** The part of the cost that the budget counts. */
export const countedCost = (month: MonthCost | undefined, budget: { readonly include_byok_in_budgets: boolean } | undefined): number =>
  month === undefined ? 0 : month.cost + (budget?.include_byok_in_budgets === true ? month.byok_cost : 0)
