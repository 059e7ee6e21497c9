import type { CurrentSessionResource } from '../../../src/contract/session.ts'
import { ApiError } from './api-error.ts'
import { connection } from './connection.ts'
import { FreshQueries } from './fresh-queries.ts'
import { sessionState } from './session-half.ts'
import { currentSession } from './session.ts'

/** Data stays on the page while newer data is fetched, and when the fetch fails. */
export const queryClient = new FreshQueries({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 5000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => error instanceof ApiError && error.status === 503 && failures < 2,
    },
    mutations: { networkMode: 'always' },
  },
})

// After an outage, all queries on the page are fetched anew, also those of which a network that was cut off never answers the first fetch.
connection.subscribe(() => {
  if (connection.get() === 'reached') void queryClient.invalidateQueries({})
})

// Nothing that was read for one person is shown to the next one.
sessionState.subscribe(() => {
  if (sessionState.get() === 'none') queryClient.clear()
  else if (sessionState.get() === 'held') void readAnew()
})

/** After a new sign-in. The page stays if the same person is back, for whom an answer may be open; for another it begins anew. */
const readAnew = async (): Promise<void> => {
  const before = queryClient.getQueryData(currentSession.queryKey)
  if (before === undefined || (await isStill(before))) await queryClient.invalidateQueries()
  else location.reload()
}

const isStill = async ({ user_id, role, workspace_id }: CurrentSessionResource): Promise<boolean> => {
  const { queryKey } = currentSession
  // A request that is in flight was sent with the session that has ended.
  await queryClient.cancelQueries({ queryKey })
  const now = await queryClient.fetchQuery({ ...currentSession, staleTime: 0 }).catch(() => null)
  return user_id === now?.user_id && role === now.role && workspace_id === now.workspace_id
}
