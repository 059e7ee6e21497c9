import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import type { Turn } from '../../lib/steps.ts'
import { admitFree, type Admit } from '../admit/admit.ts'
import type { Admitted } from '../admitted.ts'
import type { Planned } from '../request.ts'
import type { Caching } from './caching.ts'
import type { ResponseCache } from './response-cache.ts'

export interface AdmitCachedParts {
  readonly responseCache: Pick<ResponseCache, 'find'>
  readonly admit: Admit
  readonly clock: Clock
  readonly ids: IdSource
  readonly turn: Turn
}

/** Looks for a cached answer, which is free; without one the request is admitted under its budgets as usual. */
export const admitCached = async (planned: Planned, caching: Caching, parts: AdmitCachedParts): Promise<Admitted> => {
  const use = await parts.responseCache.find(planned, caching, parts.turn)
  const admitted = use.outcome === 'hit' ? admitFree(planned, parts.clock, parts.ids) : await parts.admit(planned)
  admitted.cache = use
  return admitted
}
