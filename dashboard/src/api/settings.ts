/** Queries for the facts and settings of the service, and for who is signed in. */
import { queryOptions } from '@tanstack/react-query'

import type { z } from 'zod'

import type { serviceFacts as facts } from '../../../src/contract/service-facts.ts'
import type { SessionResource } from '../../../src/contract/session.ts'
import { ask, askData, segment } from './client.ts'
import { queryClient } from './query-client.ts'

export type ServiceFacts = z.output<typeof facts>
export type EffectiveSetting = ServiceFacts['settings'][number]

export const serviceFacts = queryOptions({
  queryKey: ['service'],
  queryFn: ({ signal }) => askData<ServiceFacts>('/service', { signal }),
})

export const sessionList = (workspace?: string) =>
  queryOptions({
    queryKey: ['sessions', { workspace }],
    queryFn: ({ signal }) => askData<readonly SessionResource[]>('/sessions', { query: { workspace_id: workspace }, signal }),
  })

export const endSessionOf = async (id: string): Promise<void> => {
  await ask(`/sessions/${segment(id)}`, { method: 'DELETE' })
  await queryClient.invalidateQueries({ queryKey: ['sessions'] })
}
