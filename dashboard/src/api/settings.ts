/** What the service says of itself, and who is signed in. */
import { queryOptions } from '@tanstack/react-query'

import type { SessionResource } from '../../../src/contract/session.ts'
import { ask, segment } from './client.ts'
import { queryClient } from './query-client.ts'

export interface EffectiveSetting {
  readonly name: string
  readonly value: unknown
  /** `flag`, `variable`, `file`, `default`, with where exactly. */
  readonly source: string
  readonly place?: string | null
}

export interface ServiceFacts {
  readonly version: string
  readonly engine?: string
  readonly started_at?: string
  readonly processes?: readonly { readonly id: string; readonly started_at?: string; readonly seen_at?: string }[]
  readonly settings?: readonly EffectiveSetting[]
  readonly configuration?: readonly EffectiveSetting[]
  readonly config_errors?: readonly string[]
}

export const serviceFacts = queryOptions({
  queryKey: ['service'],
  queryFn: async ({ signal }) => {
    const answer = await ask<{ data?: ServiceFacts } & ServiceFacts>('/service', { signal })
    return answer.data ?? answer
  },
})

export const sessionList = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }) => (await ask<{ data: readonly SessionResource[] }>('/sessions', { signal })).data,
})

export const endSessionOf = async (id: string): Promise<void> => {
  await ask(`/sessions/${segment(id)}`, { method: 'DELETE' })
  await queryClient.invalidateQueries({ queryKey: ['sessions'] })
}
