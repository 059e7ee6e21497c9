import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import { type Provider, type ProviderHealth, providerHealth, providerList, type ProviderTest, testProvider } from '../../api/providers.ts'
import { usage } from '../../api/usage.ts'
import { count, duration, instant, money, percent } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { messageOf } from '../../parts/error-note.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { stateOf } from './provider-state.ts'

export const ProviderTable = () => {
  const providers = useQuery(providerList)
  const health = useQuery(providerHealth)
  const { from, to } = rangeOf({ range: '24h' }, useNow())
  const used = useQuery({ ...usage({ from, to, interval: 'day', group_by: 'provider', top: 50 }), placeholderData: (before) => before })
  const usedBy = (slug: string) => used.data?.groups.find(({ provider }) => provider === slug)
  const healthOf = (slug: string) => health.data?.find((one) => one.slug === slug)
  return (
    <Loaded query={providers} rows={5}>
      {(rows) => (
        <Table
          label="Providers"
          rows={rows}
          rowKey={({ slug }) => slug}
          empty={<Empty>No provider is enabled. Set its key, such as OPENAI_API_KEY, and restart, or name it in patchbay.yaml.</Empty>}
          columns={[
            {
              title: 'Provider',
              isHead: true,
              cell: ({ slug, name }) => (
                <Link to="/requests" search={{ q: `provider:${slug}`, range: '24h' }}>
                  {name}
                </Link>
              ),
            },
            { title: 'State', cell: ({ slug }) => <ProviderState slug={slug} state={stateOf(healthOf(slug))} /> },
            { title: 'Answered, 24 h', align: 'right', cell: ({ slug }) => uptimeOf(healthOf(slug)) },
            { title: 'First token p50', align: 'right', cell: ({ slug }) => duration(usedBy(slug)?.ttft_p50), wideOnly: true },
            { title: 'p95', align: 'right', cell: ({ slug }) => duration(usedBy(slug)?.ttft_p95), wideOnly: true },
            { title: 'Requests', align: 'right', cell: ({ slug }) => count(usedBy(slug)?.requests ?? 0), wideOnly: true },
            { title: 'Last failure', cell: ({ slug }) => <LastFailure of={healthOf(slug)?.last_error ?? null} />, wideOnly: true },
            { title: 'Test', align: 'right', cell: (provider) => <TestButton of={provider} /> },
          ]}
        />
      )}
    </Loaded>
  )
}

const uptimeOf = (health: ProviderHealth | undefined): string =>
  percent(health?.uptime === null || health?.uptime === undefined ? null : health.uptime / 100)

const ProviderState = ({ state }: { slug: string; state: ReturnType<typeof stateOf> }) => (
  <span title={state.until === null ? undefined : `until ${instant(state.until)}`}>
    <Status mark={state.mark}>{state.words}</Status>
  </span>
)

const LastFailure = ({ of: error }: { of: ProviderHealth['last_error'] }) =>
  error === null ? (
    <span className="faint">–</span>
  ) : (
    <span className="cut failure" title={error.message}>
      <When at={error.at} /> {error.status ?? ''} {error.type}
    </span>
  )

const TestButton = ({ of: { slug, name } }: { of: Provider }) => {
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<ProviderTest | string | null>(null)
  const test = (): void => {
    setBusy(true)
    testProvider(slug)
      .then(setOutcome)
      .catch((thrown: unknown) => setOutcome(messageOf(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <span className="row end">
      <span role="status">{outcome === null ? null : <TestOutcome of={outcome} />}</span>
      <Button onClick={test} busy={busy} aria-label={`Test ${name}`}>
        Test
      </Button>
    </span>
  )
}

const TestOutcome = ({ of: outcome }: { of: ProviderTest | string }) => {
  if (typeof outcome === 'string') return <span className="outcome">{outcome}</span>
  return outcome.ok ? (
    <Status mark="ok">{`${duration(outcome.total_ms)}, ${money(outcome.cost_usd)}`}</Status>
  ) : (
    <span className="outcome">
      <Status mark="error">{`${outcome.status ?? ''} ${outcome.error?.type ?? 'failed'}`}</Status> {outcome.error?.message}
    </span>
  )
}
