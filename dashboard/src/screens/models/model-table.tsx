import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'

import { modelList } from '../../api/models.ts'
import { compact } from '../../format.ts'
import { Copy } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Table } from '../../parts/table.tsx'

/** Prices are dollars per token on the wire, and per million tokens here, as vendors state them. */
const MILLION = 1_000_000

export const ModelTable = () => {
  const models = useQuery(modelList)
  const words = (useSearch({ strict: false })['q'] ?? '').toLowerCase()
  return (
    <div className="stack">
      <div className="filters">
        <SearchField label="Find a model" placeholder="Model or vendor" />
      </div>
      <Loaded query={models} rows={10}>
        {(rows) => (
          <Table
            label="Models"
            rows={rows.filter(({ id, name }) => `${id} ${name ?? ''}`.toLowerCase().includes(words))}
            rowKey={({ id }) => id}
            empty={<Empty>No model has this name.</Empty>}
            columns={[
              { title: 'Model', isHead: true, cell: ({ id }) => <Copy text={id}>{id}</Copy> },
              {
                title: 'Context',
                align: 'right',
                cell: ({ context_length: length }) => (length === null || length === undefined || length === 0 ? '–' : compact(length)),
              },
              { title: 'In, per million', align: 'right', cell: ({ pricing }) => price(pricing?.['prompt']) },
              { title: 'Out, per million', align: 'right', cell: ({ pricing }) => price(pricing?.['completion']) },
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
    </div>
  )
}

const price = (perToken: string | undefined) => {
  const dollars = Number(perToken)
  if (perToken === undefined || Number.isNaN(dollars) || dollars < 0)
    return <span title="Nobody knows the price: budgets refuse it">?</span>
  return dollars === 0 ? 'free' : `$${Number((dollars * MILLION).toPrecision(6))}`
}
