/** The models that a request may name, presets included. */
import { queryOptions } from '@tanstack/react-query'

import { askData } from './client.ts'

interface ListedModel {
  readonly id: string
  readonly name?: string
  readonly context_length?: number | null
  readonly pricing?: Readonly<Record<string, string>>
}

export const modelList = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => askData<readonly ListedModel[]>('/models', { signal }),
  staleTime: 60_000,
})
