import { queryOptions } from '@tanstack/react-query'

import { askData } from './client.ts'

export interface SearchHit {
  readonly type: 'generation' | 'request' | 'preset' | 'key' | 'model' | 'member'
  readonly id: string
  readonly title: string
}

/** Returns at most eight hits. */
export const search = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: ({ signal }) => askData<readonly SearchHit[]>('/search', { query: { q: text }, signal }),
    enabled: text.length >= 2,
  })
