/** What all endpoints of a provider come to. */
import type { EndpointHealth } from '../../api/providers.ts'
import type { Mark } from '../../parts/status.tsx'

export interface ProviderHealth {
  readonly open: EndpointHealth | null
  readonly lastError: NonNullable<EndpointHealth['last_error']> | null
}

export const healthOf = (endpoints: readonly EndpointHealth[], slug: string): ProviderHealth => {
  const own = endpoints.filter(({ provider }) => provider === slug)
  const errors = own.flatMap(({ last_error: error }) => (error === null || error === undefined ? [] : [error]))
  return {
    open: own.find(({ breaker }) => breaker?.state === 'open') ?? null,
    lastError: errors.toSorted((one, other) => other.at.localeCompare(one.at))[0] ?? null,
  }
}

/** Below it a provider has a bad moment, not a fault. */
const BAD_SHARE = 0.2

interface ProviderState {
  readonly mark: Mark
  readonly words: string
  /** When a shut circuit is tried again. */
  readonly until: string | null
}

export const stateOf = ({ open }: ProviderHealth, used: { requests: number; errors: number } | undefined): ProviderState => {
  if (open !== null) return { mark: 'error', words: `Not asked: ${open.model}`, until: open.breaker?.until ?? null }
  if (used === undefined || used.requests === 0) return { mark: 'none', words: 'Not asked in 24 h', until: null }
  return used.errors / used.requests >= BAD_SHARE
    ? { mark: 'error', words: 'Failing', until: null }
    : { mark: 'ok', words: 'Answers', until: null }
}
