import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'

import { modelList } from '../../api/models.ts'
import { providerHealth } from '../../api/providers.ts'
import { usage } from '../../api/usage.ts'
import { count } from '../../format.ts'
import { Compact } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/copy.tsx'
import { ClearFilter } from '../../parts/clear-filter.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { useNow } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { filterText } from '../requests/filter.ts'
import { failedWords, percentilesOf, type Served, servedBy } from './provider-state.ts'
import { exactMoney } from '../../units.ts'

/** The number of models that are listed at first, and that one press adds. */
const ROWS = 200

/** The API's prices are dollars per token; shown here per million tokens, as vendors state them. */
const MILLION = 1_000_000

export const ModelTable = () => {
  const models = useQuery(modelList)
  const served = servedBy(useQuery(providerHealth).data ?? [])
  const { from, to } = rangeOf({ range: '24h' }, useNow())
  const used = useQuery({ ...usage({ from, to, interval: 'day', group_by: 'model', top: 50 }), placeholderData: (before) => before })
  const usedBy = (id: string) => used.data?.groups.find(({ model }) => model === id)
  const words = (useSearch({ strict: false })['q'] ?? '').toLowerCase()
  const fitting = useMemo(
    () => models.data?.filter(({ id, name }) => `${id} ${name ?? ''}`.toLowerCase().includes(words)),
    [models.data, words],
  )
  // Presets are models too, so there may be thousands.
  const [wanted, setWanted] = useState(ROWS)
  return (
    <div className="stack">
      <div className="filters">
        <SearchField label="Find a model" placeholder="Model or vendor" />
      </div>
      <Loaded query={{ data: fitting, error: models.error, refetch: models.refetch }} rows={10}>
        {(rows) => (
          <Table
            label="Models"
            rows={rows.slice(0, wanted)}
            rowKey={({ id }) => id}
            empty={<Empty action={<ClearFilter parameters={['q']} />}>No model has this name.</Empty>}
            columns={[
              {
                title: 'Model',
                isHead: true,
                cell: ({ id }) => (
                  <>
                    <Copy text={id}>{id}</Copy>
                    <Failing of={served.get(id) ?? []} />
                  </>
                ),
              },
              {
                title: 'Context',
                align: 'right',
                cell: ({ context_length: length }) =>
                  length === null || length === undefined || length === 0 ? '–' : <Compact of={length} />,
              },
              { title: 'In, per million', align: 'right', cell: ({ pricing }) => perMillion(pricing?.['prompt']) },
              { title: 'Out, per million', align: 'right', cell: ({ pricing }) => perMillion(pricing?.['completion']) },
              { title: 'Providers', cell: ({ id }) => <ServedBy of={served.get(id) ?? []} />, isWords: true, wideOnly: true },
              {
                title: 'First token, p50, p99',
                align: 'right',
                cell: ({ id }) => percentilesOf(usedBy(id)),
                wideOnly: true,
              },
              {
                title: 'Requests, 24 h',
                align: 'right',
                cell: ({ id }) =>
                  // Requests with a preset are recorded under the model that the preset calls.
                  id.startsWith('@preset/') ? (
                    <span className="faint">–</span>
                  ) : (
                    <Link to="/requests" search={{ q: filterText({ model: id }), range: '24h' }}>
                      {/* Unknown for a model that is not among the most expensive ones, which alone are listed individually. */}
                      {count(usedBy(id)?.requests ?? (used.data?.groups.some(({ other }) => other === true) === true ? null : 0))}
                    </Link>
                  ),
                wideOnly: true,
              },
              {
                title: 'Try',
                align: 'right',
                cell: ({ id }) => (
                  <Link to="/playground" search={{ model: id }} aria-label={`Try ${id} in the playground`}>
                    Playground
                  </Link>
                ),
                wideOnly: true,
              },
            ]}
          />
        )}
      </Loaded>
      {fitting === undefined || fitting.length <= wanted ? null : (
        <div className="row">
          <Button onClick={() => setWanted(wanted + ROWS)}>Show more</Button>
          <span className="soft small">{`${count(wanted)} of ${count(fitting.length)}`}</span>
        </div>
      )}
    </div>
  )
}

/** On a narrow screen, which has no room for a column of the providers. */
const Failing = ({ of: providers }: { of: readonly Served[] }) => {
  const failing = providers.filter(({ mark }) => mark === 'error' || mark === 'left')
  return failing.length === 0 ? null : (
    <div className="narrow-only">
      <ServedBy of={failing} />
    </div>
  )
}

const ServedBy = ({ of: providers }: { of: readonly Served[] }) =>
  providers.length === 0 ? (
    <span className="faint">–</span>
  ) : (
    <span className="row">
      {providers.map(({ name, mark, words, failed, asked }) => (
        <span key={name} title={words}>
          <Status mark={mark}>{name}</Status>
          <span className="hidden-text">, {words}</span>
          {failed === null ? null : <span className="small soft"> {failedWords(failed, asked)}</span>}
        </span>
      ))}
    </span>
  )

const perMillion = (perToken: string | undefined) => {
  const dollars = Number(perToken)
  if (perToken === undefined || Number.isNaN(dollars) || dollars < 0)
    return <span title="Nobody knows the price: budgets refuse it">?</span>
  return dollars === 0 ? 'free' : exactMoney(Number((dollars * MILLION).toPrecision(6)))
}
