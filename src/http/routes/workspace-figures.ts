/** Members, keys and money of workspaces, for their list (docs/contract/keys-and-workspaces.md#workspaces). */
import type { ListedWorkspaceResource, WorkspaceFiguresResource, WorkspaceResource } from '../../contract/workspace.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import { spentIn } from '../../ledger/decide.ts'
import type { Spender } from '../../ledger/scope.ts'
import { windowOf } from '../../ledger/windows.ts'
import { dollars } from '../../lib/money.ts'
import type { LedgerStore } from '../../storage/ledger/ledger-store.ts'
import type { ReadWorkspaceFigures, WorkspaceFigures } from '../../storage/usage/workspace-figures.ts'
import { createPacedReads } from '../paced-reads.ts'
import type { RouteRequest } from '../route.ts'

export type FiguresOf = (request: RouteRequest, workspaces: readonly WorkspaceResource[]) => Promise<readonly ListedWorkspaceResource[]>

interface WorkspaceFigureParts {
  readonly readWorkspaceFigures: ReadWorkspaceFigures
  /** The windows that admission checks. */
  readonly readWindows: LedgerStore['read']
  readonly flush: () => Promise<void>
  readonly clock: Clock
}

export const createFiguresOf = ({ readWorkspaceFigures, readWindows, flush, clock }: WorkspaceFigureParts): FiguresOf => {
  const reads = createPacedReads(clock)
  return async (request, workspaces) => {
    await flush()
    const ids = workspaces.map(({ id }) => id)
    const nowMs = clock.now()
    return reads.run(request, 'listWorkspaces', async () => {
      const figures = await readWorkspaceFigures(ids, firstHourOfMonth(nowMs))
      const kept = workspaces.flatMap(({ id, include_byok_in_budgets: includeByok }) =>
        LONGEST_FIRST.flatMap((span) => {
          const limitNanos = figures.get(id)?.limitsNanos.get(span)
          return limitNanos === undefined ? [] : [{ id, limitNanos, includeByok, interval: span === 'lifetime' ? null : span }]
        }),
      )
      const windows = await readWindows(kept.map(({ id, interval }) => windowOf({ kind: 'workspace', interval }, spenderIn(id), nowMs)))
      const budgets = kept.flatMap(({ limitNanos, interval, ...budget }, index) => {
        const window = windows[index]
        if (window === undefined) return []
        const shown = { limit_usd: dollars(limitNanos), reset_interval: interval, spend_usd: dollars(spentIn(window, budget.includeByok)) }
        return [{ id: budget.id, shown }]
      })
      return workspaces.map((workspace) => {
        const found = figures.get(workspace.id)
        const own = budgets.flatMap(({ id, shown }) => (id === workspace.id ? [shown] : []))
        return found === undefined ? workspace : { ...workspace, figures: resourceOf(found, own) }
      })
    })
  }
}

const firstHourOfMonth = (nowMs: number): string => `${isoTimestamp(nowMs).slice(0, 'YYYY-MM'.length)}-01T00`

const LONGEST_FIRST = ['lifetime', 'monthly', 'weekly', 'daily'] as const

/** The window of a workspace's budget is the same for all who spend in it. */
const spenderIn = (workspaceId: string): Spender => ({ workspaceId, keyHash: '', userId: '', limit: null })

const resourceOf = (
  { members, keys, spentNanos, credit }: WorkspaceFigures,
  budgets: WorkspaceFiguresResource['budgets'],
): WorkspaceFiguresResource => ({
  members,
  keys,
  spend_this_month: dollars(spentNanos),
  budgets,
  credit: credit === null ? null : { total_credits: dollars(credit.totalNanos), total_usage: dollars(credit.spentNanos) },
})
