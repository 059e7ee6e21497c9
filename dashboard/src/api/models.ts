/** The models that a request may name, presets included. */
import { queryOptions } from '@tanstack/react-query'

import { ask } from './client.ts'

interface ListedModel {
  readonly id: string
  readonly name?: string
  readonly context_length?: number | null
  readonly pricing?: Readonly<Record<string, string>>
}

export const modelList = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => (await ask<{ data: readonly ListedModel[] }>('/models', { signal })).data,
  staleTime: 60_000,
})
