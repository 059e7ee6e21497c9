/** The queries of people over all requests: the list, the stream of new requests, and the sums. */
import type { Clock } from '../../lib/clock.ts'
import type { AuditLog } from '../../storage/changes/audit-log.ts'
import type { ContentStore } from '../../storage/generations/content-store.ts'
import type { GenerationList } from '../../storage/generations/generation-list.ts'
import type { GenerationStore } from '../../storage/generations/generation-store.ts'
import type { UsageSeriesStore } from '../../storage/usage/usage-series.ts'
import type { Onceness } from '../answer-once.ts'
import { authenticate, type Doors } from '../access/authenticate.ts'
import { createPacedReads } from '../paced-reads.ts'
import type { Route, RouteRequest } from '../route.ts'
import { sealedCursors } from '../sealed-cursors.ts'
import { generationContentDelete, generationContentGet } from './generation-content.ts'
import { generationsList } from './generations.ts'
import { generationsStream } from './generations-stream.ts'
import { type ProviderHealthParts, providersHealth } from './provider-health.ts'
import { searchRoute, type SearchRouteParts } from './search.ts'
import { serviceFactsRoute, type ServiceFactsParts } from './service-facts.ts'
import { usageRoute } from './usage.ts'

export interface RequestLogParts extends Omit<ProviderHealthParts, 'reads'>, Pick<SearchRouteParts, 'searching'>, ServiceFactsParts {
  readonly generations: {
    readonly store: GenerationStore
    readonly list: GenerationList
    readonly usage: UsageSeriesStore
    readonly flush: () => Promise<void>
  }
  readonly management: { readonly auditLog: Pick<AuditLog, 'note'>; readonly onceness: Pick<Onceness, 'seal'> }
  readonly contents: { readonly store: ContentStore; readonly flush: () => Promise<void> }
  readonly clock: Clock
  readonly isDraining: () => boolean
  readonly onError: (thrown: unknown, doing: string) => void
}

export const requestLogRoutes = (parts: RequestLogParts, doors: Doors): readonly Route[] => {
  const { generations, contents, management, clock, isDraining } = parts
  const onError = (thrown: unknown): void => parts.onError(thrown, 'requests could not be listed')
  const reads = createPacedReads(clock)
  const cursors = sealedCursors(management.onceness.seal, 'requests')
  const listing = { ...generations, cursors, auditLog: management.auditLog, reads, clock, onError }
  const requireCaller = async ({ headers }: RouteRequest): Promise<void> => void (await authenticate(headers, 'own', doors))
  const content = { contents, generations, auditLog: management.auditLog, clock }
  return [
    generationContentGet(content),
    generationContentDelete(content),
    generationsList(listing),
    generationsStream({ ...listing, requireCaller, isDraining }),
    usageRoute(listing),
    providersHealth({ ...parts, reads }),
    searchRoute({ ...parts, reads }),
    serviceFactsRoute(parts),
  ]
}
