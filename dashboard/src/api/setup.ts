/** The data that the setup screen needs: a model or preset to name, and the first request of the program. */
import { queryOptions } from '@tanstack/react-query'

import { askData } from './client.ts'

export interface NamedModel {
  readonly id: string
  readonly name: string
}

/** Presets first, then models, as programs may name them. */
export const namedModels = queryOptions({
  queryKey: ['named-models'],
  queryFn: async ({ signal }) => {
    const data = await askData<readonly NamedModel[]>('/models', { signal })
    return data.toSorted((one, other) => Number(other.id.startsWith('@')) - Number(one.id.startsWith('@')))
  },
  staleTime: 60_000,
})

interface FirstRequest {
  readonly id: string
  readonly model: string
  readonly created_at: string
}

/** The first request with the key since then, or null. It is polled until there is one. */
export const firstRequest = (keyHash: string | null, since: string) =>
  queryOptions({
    queryKey: ['first-request', keyHash, since],
    queryFn: async ({ signal }) => {
      const data = await askData<readonly FirstRequest[]>('/generations', {
        query: { from: since, key: keyHash, limit: 1 },
        signal,
      })
      return data[0] ?? null
    },
    refetchInterval: ({ state }) => (state.data === null || state.data === undefined ? 1500 : false),
    staleTime: 0,
  })
