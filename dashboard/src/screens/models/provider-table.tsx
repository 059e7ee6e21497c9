import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { type ProviderHealth, providerHealth, providerList } from '../../api/providers.ts'
import { usage } from '../../api/usage.ts'
import { count, instant } from '../../format.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Status } from '../../parts/status.tsx'
import { wordsOfProvider } from '../../parts/provider-words.ts'
import { Table } from '../../parts/table.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { isFailing } from './affected.ts'
import { HealthStrip } from './health-strip.tsx'
import { percentilesOf, stateOf } from './provider-state.ts'
import { TestProvider } from './test-provider.tsx'
import type { ProviderTests } from './use-provider-tests.ts'
import { WhoIsAffected } from './who-is-affected.tsx'
import { percent } from '../../units.ts'

export const ProviderTable = ({ tests }: { tests: ProviderTests }) => {
  const providers = useQuery(providerList)
  const health = useQuery(providerHealth)
  const { from, to } = rangeOf({ range: '24h' }, useNow())
  const used = useQuery({ ...usage({ from, to, interval: 'day', group_by: 'provider', top: 50 }), placeholderData: (before) => before })
  const usedBy = (slug: string) => used.data?.groups.find(({ provider }) => provider === slug)
  const healthOf = (slug: string) => health.data?.find((one) => one.slug === slug)
  return (
    // Facts about their health make rows higher, so the rows come with them.
    <Loaded query={{ ...providers, data: health.isPending ? undefined : providers.data }} rows={5}>
      {(rows) => (
        <>
          {rows.length > 0 && rows.every(isSandbox) ? <p className="note">Only the sandbox answers so far. {HOW_TO_ADD}</p> : null}
          <Table
            label="Providers"
            rows={rows}
            rowKey={({ slug }) => slug}
            empty={<Empty>No provider is enabled. {HOW_TO_ADD}</Empty>}
            columns={[
              {
                title: 'Provider',
                isHead: true,
                cell: ({ slug, name }) => (
                  <>
                    <Link to="/requests" search={{ q: `provider:${slug}`, range: '24h' }}>
                      {name}
                    </Link>
                    <Models of={healthOf(slug)} />
                  </>
                ),
              },
              { title: 'State', cell: ({ slug, name }) => <ProviderState of={healthOf(slug)} name={name} /> },
              { title: 'Answered, 24 h', align: 'right', cell: ({ slug }) => uptimeOf(healthOf(slug)) },
              {
                title: 'Last failure',
                cell: ({ slug, name }) => <LastFailure of={healthOf(slug)?.last_error ?? null} name={name} />,
                wideOnly: true,
              },
              {
                title: 'By half hour',
                cell: ({ slug, name }) => <HealthStrip name={name} strip={healthOf(slug)?.strip ?? []} />,
                wideOnly: true,
              },
              {
                title: 'First token, p50, p99',
                align: 'right',
                cell: ({ slug }) => percentilesOf(usedBy(slug)),
                wideOnly: true,
              },
              { title: 'Keys', cell: ({ slug }) => <Credentials of={healthOf(slug)?.credentials ?? []} />, wideOnly: true },
              { title: 'Test', align: 'right', cell: (provider) => <TestProvider of={provider} tests={tests} /> },
            ]}
          />
        </>
      )}
    </Loaded>
  )
}

const HOW_TO_ADD = 'To add a provider, set its key, such as OPENAI_API_KEY, and restart, or name it in patchbay.yaml.'

/** The service's own providers, which are there before any other is added. */
const isSandbox = ({ slug }: { readonly slug: string }): boolean => slug.startsWith('sandbox')

const uptimeOf = (health: ProviderHealth | undefined): string =>
  percent(health?.uptime === null || health?.uptime === undefined ? null : health.uptime / 100)

const Models = ({ of: health }: { of: ProviderHealth | undefined }) => {
  const models = new Set(health?.endpoints.map(({ model }) => model)).size
  return models === 0 ? null : <span className="faint small wide-only nowrap"> {models === 1 ? '1 model' : `${count(models)} models`}</span>
}

const ProviderState = ({ of: health, name }: { of: ProviderHealth | undefined; name: string }) => {
  const { mark, words, shut, until } = stateOf(health)
  return (
    <>
      <span title={until === null ? undefined : `until ${instant(until)}`}>
        <Status mark={mark}>{words + shut}</Status>
      </span>
      {health !== undefined && isFailing(health) ? (
        <div className="affected">
          <WhoIsAffected provider={health} />
        </div>
      ) : null}
      {health === undefined || health.last_error === null ? null : (
        <div className="narrow-only small soft">
          Last failure: <LastFailure of={health.last_error} name={name} />
        </div>
      )}
    </>
  )
}

/** A refused credential is what an operator must replace at once, so it has a mark of its own. */
const Credentials = ({ of: credentials }: { of: ProviderHealth['credentials'] }) =>
  credentials.length === 0 ? (
    <span className="faint">–</span>
  ) : (
    <ul className="credentials">
      {credentials.map(({ label, refused_at: refusedAt, rests_until: until }) => (
        <li
          key={label}
          className="cut"
          title={
            refusedAt === null
              ? label
              : `${label}: refused at ${instant(refusedAt)}${until === null ? '' : `, rests until ${instant(until)}`}`
          }
        >
          <Status mark={refusedAt === null ? 'ok' : 'error'}>{refusedAt === null ? label : `${label} refused`}</Status>
        </li>
      ))}
    </ul>
  )

const LastFailure = ({ of: error, name }: { of: ProviderHealth['last_error']; name: string }) => {
  if (error === null) return <span className="faint">–</span>
  const said = error.message === null ? null : (wordsOfProvider(error.message, name) ?? error.message)
  return (
    <div className="failure">
      <When at={error.at} /> {error.status ?? ''} {error.type}
      {said === null ? null : (
        <span className="failure-said small soft" title={said}>
          {said}
        </span>
      )}
    </div>
  )
}
