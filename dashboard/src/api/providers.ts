/** The providers, their health, and a test that calls one now. */
import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'

import type { provider } from '../../../src/contract/model.ts'
import type { providerHealth as health } from '../../../src/contract/provider-health.ts'
import type { providerTest } from '../../../src/contract/provider-test.ts'
import { askData, segment } from './client.ts'

export type Provider = z.output<typeof provider>

export const providerList = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => askData<readonly Provider[]>('/providers', { signal }),
  staleTime: 60_000,
})

/** The health of a provider, over all processes. */
export type ProviderHealth = z.output<typeof health>

export const providerHealth = queryOptions({
  queryKey: ['provider-health'],
  queryFn: ({ signal }) => askData<readonly ProviderHealth[]>('/providers/health', { signal }),
  refetchInterval: 5000,
})

export type ProviderTest = z.output<typeof providerTest>

/** Sends one request of one token. It is recorded and costs what any request costs. */
export const testProvider = async (slug: string): Promise<ProviderTest> =>
  askData<ProviderTest>(`/providers/${segment(slug)}/test`, { method: 'POST', body: {} })
