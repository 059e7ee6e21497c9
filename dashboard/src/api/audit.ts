/** Who changed what. */
import { infiniteQueryOptions } from '@tanstack/react-query'

import type { z } from 'zod'

import type { auditEntry } from '../../../src/contract/workspace.ts'
import { ask } from './client.ts'
import type { Query } from './path.ts'

export type AuditEntry = z.output<typeof auditEntry>

interface AuditPage {
  readonly data: readonly AuditEntry[]
  readonly next_cursor?: string | null
}

export const auditLog = (filter: Query) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) => ask<AuditPage>('/audit-log', { query: { ...filter, cursor: pageParam, limit: 100 }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? null,
  })
