/** Undoes that a budget was set or removed. */
import { queryClient } from '../../api/query-client.ts'
import { budgetsOf, deleteBudget, putBudget } from '../../api/workspaces.ts'
import { takeBack } from '../../shell/take-back.ts'
import { INTERVALS } from './intervals.ts'

type Interval = keyof typeof INTERVALS

/** The note about a budget, which a later change of the same budget replaces. */
export const budgetNote = (workspaceId: string, interval: Interval): string => `budget ${interval} of ${workspaceId}`

/** Amounts in dollars; null if there was no budget, or is none after the change. */
export const undoBudget = (
  workspaceId: string,
  interval: Interval,
  { before, left }: { readonly before: number | null; readonly left: number | null },
): void =>
  void takeBack({
    what: `The budget ${INTERVALS[interval]}`,
    async read() {
      const budgets = await queryClient.fetchQuery({ ...budgetsOf(workspaceId), staleTime: 0 })
      return budgets.find(({ reset_interval: reset }) => (reset ?? 'lifetime') === interval)?.limit_usd ?? null
    },
    isAsLeft: (limit) => limit === left,
    putBack: () => (before === null ? deleteBudget(workspaceId, interval) : putBudget(workspaceId, interval, before)),
  })
