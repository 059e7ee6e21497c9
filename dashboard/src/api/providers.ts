/** Providers: which there are, how they do, and whether they answer now. */
import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'

import type { providerTest } from '../../../src/contract/provider-test.ts'
import { ask, segment } from './client.ts'

export interface Provider {
  readonly slug: string
  readonly name: string
}

export const providerList = queryOptions({
  queryKey: ['providers'],
  queryFn: async ({ signal }) => (await ask<{ data: readonly Provider[] }>('/providers', { signal })).data,
  staleTime: 60_000,
})

/** One model at one provider, as all processes together see it. */
export interface EndpointHealth {
  readonly provider: string
  readonly model: string
  readonly status: string
  /** Per cent. */
  readonly uptime: number | null
  readonly breaker?: { readonly state: string; readonly until: string | null } | null
  readonly last_error?: { readonly at: string; readonly type: string; readonly status: number | null; readonly message: string } | null
}

export const providerHealth = queryOptions({
  queryKey: ['provider-health'],
  queryFn: async ({ signal }) => (await ask<{ data: readonly EndpointHealth[] }>('/providers/health', { signal })).data,
  refetchInterval: 5000,
})

export type ProviderTest = z.output<typeof providerTest>

/** One request of one token; it is recorded, and costs what it costs. */
export const testProvider = async (slug: string): Promise<ProviderTest> =>
  (await ask<{ data: ProviderTest }>(`/providers/${segment(slug)}/test`, { method: 'POST', body: {} })).data
