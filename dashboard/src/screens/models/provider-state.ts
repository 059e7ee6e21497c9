/** How a provider does, as a mark and words. */
import type { ProviderHealth } from '../../api/providers.ts'
import type { Mark } from '../../parts/status.tsx'

interface ProviderState {
  readonly mark: Mark
  readonly words: string
  /** When a shut circuit is tried again. */
  readonly until: string | null
}

const STATES: Readonly<Record<ProviderHealth['status'], readonly [Mark, string]>> = {
  ok: ['ok', 'Answers'],
  degraded: ['left', 'Fails at times'],
  down: ['error', 'Down'],
  unused: ['none', 'Not asked in 24 h'],
}

export const stateOf = (health: ProviderHealth | undefined): ProviderState => {
  if (health === undefined) return { mark: 'none', words: 'Unknown', until: null }
  const shut = health.endpoints.filter(({ breaker }) => breaker.state === 'open')
  const until = health.breaker.until ?? shut[0]?.breaker.until ?? null
  const [mark, words] = STATES[health.status]
  return {
    mark,
    words: shut.length === 0 ? words : `${words}; ${shut.length === 1 ? shut[0]?.model : `${shut.length} models`} not asked`,
    until,
  }
}
