import { queryOptions } from '@tanstack/react-query'

import { ask } from './client.ts'

export interface SearchHit {
  readonly type: 'generation' | 'request' | 'preset' | 'key' | 'model' | 'member'
  readonly id: string
  readonly title: string
}

/** Returns at most eight hits. */
export const search = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: async ({ signal }) => (await ask<{ data: readonly SearchHit[] }>('/search', { query: { q: text }, signal })).data,
    enabled: text.length >= 2,
  })
