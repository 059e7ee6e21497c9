/** Members, keys and money of workspaces, for their list (docs/contract/keys-and-workspaces.md#workspaces). */
import type { ListedWorkspaceResource, WorkspaceFiguresResource, WorkspaceResource } from '../../contract/workspace.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import { dollars } from '../../lib/money.ts'
import type { ReadWorkspaceFigures, WorkspaceFigures } from '../../storage/usage/workspace-figures.ts'
import { createPacedReads } from '../paced-reads.ts'
import type { RouteRequest } from '../route.ts'

export type FiguresOf = (request: RouteRequest, workspaces: readonly WorkspaceResource[]) => Promise<readonly ListedWorkspaceResource[]>

interface WorkspaceFigureParts {
  readonly readWorkspaceFigures: ReadWorkspaceFigures
  readonly flush: () => Promise<void>
  readonly clock: Clock
}

export const createFiguresOf = ({ readWorkspaceFigures, flush, clock }: WorkspaceFigureParts): FiguresOf => {
  const reads = createPacedReads(clock)
  return async (request, workspaces) => {
    await flush()
    const ids = workspaces.map(({ id }) => id)
    const figures = await reads.run(request, 'listWorkspaces', () => readWorkspaceFigures(ids, firstHourOfMonth(clock.now())))
    return workspaces.map((workspace) => {
      const found = figures.get(workspace.id)
      return found === undefined ? workspace : { ...workspace, figures: resourceOf(found) }
    })
  }
}

const firstHourOfMonth = (nowMs: number): string => `${isoTimestamp(nowMs).slice(0, 'YYYY-MM'.length)}-01T00`

const LONGEST_FIRST = ['lifetime', 'monthly', 'weekly', 'daily'] as const

const resourceOf = ({ members, keys, spentNanos, limitsNanos, credit }: WorkspaceFigures): WorkspaceFiguresResource => ({
  members,
  keys,
  spend_this_month: dollars(spentNanos),
  budgets: LONGEST_FIRST.flatMap((span) => {
    const limit = limitsNanos.get(span)
    return limit === undefined ? [] : [{ limit_usd: dollars(limit), reset_interval: span === 'lifetime' ? null : span }]
  }),
  credit: credit === null ? null : { total_credits: dollars(credit.totalNanos), total_usage: dollars(credit.spentNanos) },
})
