import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { type ProviderHealth, providerHealth } from '../../api/providers.ts'
import { usage } from '../../api/usage.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { rangeIn } from '../../range.ts'
import { stateOf } from '../models/provider-state.ts'
import type { Scope } from './scope.ts'
import { duration, percent } from '../../units.ts'

/** All providers with their health over all processes, for admins. */
export const ProviderHealthList = ({ range: { from, to }, workspace }: Scope) => {
  const health = useQuery(providerHealth)
  const used = useQuery({
    ...usage({ from, to, interval: 'day', group_by: 'provider', top: 50, workspace_id: workspace }),
    placeholderData: (before) => before,
  })
  return (
    <Loaded query={health} rows={4}>
      {(providers) => (
        <Table
          label="Providers"
          rows={providers}
          rowKey={({ slug }) => slug}
          empty={<Empty>No provider is enabled.</Empty>}
          columns={[
            {
              title: 'Provider',
              isHead: true,
              cell: (provider) => (
                <Link to="/requests" search={(search) => ({ ...rangeIn(search), q: `provider:${provider.slug}` })}>
                  <StateOf provider={provider} />
                </Link>
              ),
            },
            {
              title: 'Answered, 24 h',
              align: 'right',
              cell: ({ uptime }) => (uptime === null ? <span className="faint">no calls</span> : percent(uptime / 100)),
            },
            {
              title: 'First token, p50',
              align: 'right',
              cell: ({ slug }) => duration(used.data?.groups.find(({ provider }) => provider === slug)?.ttft_p50),
            },
          ]}
        />
      )}
    </Loaded>
  )
}

/** The words are there for everybody only if something is wrong. */
const StateOf = ({ provider }: { provider: ProviderHealth }) => {
  const { mark, words } = stateOf(provider)
  return (
    <Status mark={mark}>
      {provider.name}
      {mark === 'error' || mark === 'left' ? <span className="small soft"> {words}</span> : <span className="hidden-text">, {words}</span>}
    </Status>
  )
}
