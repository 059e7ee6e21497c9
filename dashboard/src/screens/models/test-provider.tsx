import { useQuery } from '@tanstack/react-query'

import { type Provider, providerList } from '../../api/providers.ts'
import { Money } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { wordsOfProvider } from '../../parts/provider-words.ts'
import { Status } from '../../parts/status.tsx'
import { SANDBOX_SPARE } from './provider-state.ts'
import type { ProviderTests, TestState } from './use-provider-tests.ts'
import { duration } from '../../units.ts'

export const TestProvider = ({ of: { slug, name }, tests }: { of: Provider; tests: ProviderTests }) => {
  const state = tests.states[slug]
  return (
    <span className="row end">
      <span role="status">{state === undefined || state === 'busy' ? null : <TestOutcome of={state} name={name} />}</span>
      <Button onClick={() => tests.test(slug)} busy={state === 'busy'} aria-label={`Test ${name}`}>
        Test
      </Button>
    </span>
  )
}

/** All providers are tested at the same time, so a slow one does not delay the others. A test of the spare sandbox would say nothing. */
export const TestAll = ({ tests }: { tests: ProviderTests }) => {
  const providers = (useQuery(providerList).data ?? []).filter(({ slug }) => slug !== SANDBOX_SPARE)
  return (
    <Button
      disabled={providers.length === 0}
      busy={providers.some(({ slug }) => tests.states[slug] === 'busy')}
      title="Asks every provider for one token"
      onClick={() => {
        for (const { slug } of providers) tests.test(slug)
      }}
    >
      Test all
    </Button>
  )
}

/** If the service itself refused the test before it called the provider, the outcome says nothing about the provider. */
const TestOutcome = ({ of: outcome, name }: { of: Exclude<TestState, 'busy'>; name: string }) => {
  if ('refused' in outcome) return <NotTested why={outcome.refused} />
  if (outcome.ok)
    return (
      <Status mark="ok">
        {duration(outcome.total_ms)}, <Money of={outcome.cost_usd} />
      </Status>
    )
  const why = outcome.error?.message ?? ''
  if (outcome.generation_id === null) return <NotTested why={why} />
  return (
    <span className="outcome failed">
      <Status mark="error">{`${outcome.status ?? ''} ${outcome.error?.type ?? 'failed'}`}</Status> {wordsOfProvider(why, name) ?? why}
    </span>
  )
}

const NotTested = ({ why }: { why: string }) => (
  <span className="outcome">
    <Status mark="none">Not tested</Status> {why}
  </span>
)
