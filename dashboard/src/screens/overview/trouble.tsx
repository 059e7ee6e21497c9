/** Providers that fail now, and nothing where none does. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { newestGenerations } from '../../api/generations.ts'
import { usage } from '../../api/usage.ts'
import { count, percent } from '../../format.ts'
import { useNow } from '../../parts/when.tsx'

const WINDOW_MS = 10 * 60_000
/** Below it a provider has a bad moment, not a fault. */
const BAD_SHARE = 0.2
const ASK_EVERY_MS = 5000

export const Trouble = ({ workspace }: { workspace: string | undefined }) => {
  const now = Math.floor(useNow() / 60_000) * 60_000
  const from = new Date(now - WINDOW_MS).toISOString()
  const recent = useQuery({
    ...usage({ from, interval: 'minute', group_by: 'provider', workspace_id: workspace }),
    refetchInterval: ASK_EVERY_MS,
    placeholderData: (before) => before,
  })
  const failing = (recent.data?.groups ?? []).filter(
    ({ provider, errors, requests }) => typeof provider === 'string' && errors > 0 && errors / requests >= BAD_SHARE,
  )
  return (
    <div role="status">
      {failing.map(({ provider, errors, requests }) => (
        <TroubleLine key={provider} provider={provider ?? ''} errors={errors} requests={requests} workspace={workspace} />
      ))}
    </div>
  )
}

const TroubleLine = (parts: { provider: string; errors: number; requests: number; workspace: string | undefined }) => {
  const { provider, errors, requests, workspace } = parts
  const last = useQuery(newestGenerations({ provider, status: 'error', workspace_id: workspace }, 1))
  const error = last.data?.[0]
  return (
    <Link to="/requests" search={{ q: `provider:${provider} status:error`, range: '1h' }} className="trouble">
      <span aria-hidden="true">▲</span>
      <strong>{provider}</strong>
      <span>
        {percent(errors / requests)} of {count(requests)} requests failed in 10 min
        {error === undefined ? '' : ` · ${error.http_status ?? ''} ${error.error_type}: ${error.error?.message ?? ''}`}
      </span>
    </Link>
  )
}
