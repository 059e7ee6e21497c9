import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { providerList } from '../../api/providers.ts'
import { usage } from '../../api/usage.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { rangeIn } from '../../range.ts'
import { failedShare, failedWords, markOfFailed } from '../models/provider-state.ts'
import type { Scope } from './scope.ts'
import { duration, percent } from '../../units.ts'

/** The providers of a member's own requests. */
export const ProviderList = ({ range: { from, to }, workspace }: Scope) => {
  const providers = useQuery(providerList).data
  const used = useQuery({
    ...usage({ from, to, interval: 'day', group_by: 'provider', workspace_id: workspace }),
    placeholderData: (before) => before,
  })
  return (
    <Loaded query={used} rows={4}>
      {({ groups }) => (
        <Table
          label="Providers"
          rows={groups.filter(({ provider }) => typeof provider === 'string')}
          rowKey={({ provider }) => provider ?? ''}
          empty={<Empty>No provider was asked in this time.</Empty>}
          columns={[
            {
              title: 'Provider',
              isHead: true,
              cell: ({ provider, errors, requests }) => (
                <Link to="/requests" search={(search) => ({ ...rangeIn(search), q: `provider:${provider}` })}>
                  <Outcome failed={failedShare(requests - errors, errors)} asked={requests}>
                    {providers?.find(({ slug }) => slug === provider)?.name ?? provider ?? ''}
                  </Outcome>
                </Link>
              ),
            },
            { title: 'Answered', align: 'right', cell: ({ errors, requests }) => percent(requests === 0 ? null : 1 - errors / requests) },
            { title: 'First token, p50', align: 'right', cell: ({ ttft_p50: p50 }) => duration(p50) },
          ]}
        />
      )}
    </Loaded>
  )
}

const Outcome = ({ failed, asked, children: name }: { failed: number | null; asked: number; children: string }) => (
  <Status mark={failed === null ? 'ok' : markOfFailed(failed, asked)}>
    {name}
    {failed === null ? null : <span className="small soft"> {failedWords(failed, asked)}</span>}
  </Status>
)
