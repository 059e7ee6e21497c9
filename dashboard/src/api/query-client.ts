import { ApiError } from './api-error.ts'
import { connection } from './connection.ts'
import { FreshQueries } from './fresh-queries.ts'
import { sessionState } from './session-half.ts'

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

const refetchOnce = (isBack: () => boolean) => (): void => {
  if (isBack()) void queryClient.invalidateQueries()
}

// After an outage, and after a new sign-in, all queries on the page are refetched.
connection.subscribe(refetchOnce(() => connection.get() === 'reached'))
sessionState.subscribe(refetchOnce(() => sessionState.get() === 'held'))
