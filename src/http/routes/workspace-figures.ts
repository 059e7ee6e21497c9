/** Members, keys and money of workspaces, for their list (docs/contract/keys-and-workspaces.md#workspaces). */
import type { ListedWorkspaceResource, WorkspaceFiguresResource, WorkspaceResource } from '../../contract/workspace.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import { dollars } from '../../lib/money.ts'
import { usageWindowsAt } from '../../storage/usage/usage-windows.ts'
import type { ReadWorkspaceFigures, WorkspaceFigures } from '../../storage/usage/workspace-figures.ts'
import { createPacedReads } from '../paced-reads.ts'
import type { RouteRequest } from '../route.ts'

export type FiguresOf = (request: RouteRequest, workspaces: readonly WorkspaceResource[]) => Promise<readonly ListedWorkspaceResource[]>

interface WorkspaceFigureParts {
  readonly readWorkspaceFigures: ReadWorkspaceFigures
  readonly areCreditsEnforced: () => boolean
  readonly flush: () => Promise<void>
  readonly clock: Clock
}

export const createFiguresOf = ({ readWorkspaceFigures, areCreditsEnforced, flush, clock }: WorkspaceFigureParts): FiguresOf => {
  const reads = createPacedReads(clock)
  return async (request, workspaces) => {
    await flush()
    const ids = workspaces.map(({ id }) => id)
    const windows = usageWindowsAt(isoTimestamp(clock.now()))
    const figures = await reads.run(request, 'listWorkspaces', () => readWorkspaceFigures(ids, windows))
    return workspaces.map((workspace) => {
      const found = figures.get(workspace.id)
      if (found === undefined) return workspace
      return { ...workspace, figures: resourceOf(found, workspace.include_byok_in_budgets, areCreditsEnforced()) }
    })
  }
}

const LONGEST_FIRST = ['lifetime', 'monthly', 'weekly', 'daily'] as const

const resourceOf = (
  { members, keys, spentNanos, budgets, credit }: WorkspaceFigures,
  includeByok: boolean,
  is_enforced: boolean,
): WorkspaceFiguresResource => ({
  members,
  keys,
  spend_this_month: dollars(spentNanos),
  budgets: LONGEST_FIRST.flatMap((interval) => {
    const budget = budgets.find(({ span }) => span === interval)
    if (budget === undefined) return []
    const { limitNanos, chargedNanos, byokNanos } = budget
    return [
      {
        limit_usd: dollars(limitNanos),
        reset_interval: interval === 'lifetime' ? null : interval,
        spend_usd: dollars(chargedNanos + (includeByok ? byokNanos : 0)),
      },
    ]
  }),
  credit: credit === null ? null : { total_credits: dollars(credit.totalNanos), total_usage: dollars(credit.spentNanos), is_enforced },
})
