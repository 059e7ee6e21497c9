/** The items of an evaluation: the answer to each, and the checks that it passed. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'

import { evaluationItems, type EvaluationResult, type PassRate } from '../../../api/evaluations.ts'
import { count } from '../../../format.ts'
import { Loaded } from '../../../parts/loaded.tsx'
import { Meter } from '../../../parts/meter.tsx'
import { Table } from '../../../parts/table.tsx'
import { AnswerCell, ITEMS_SHOWN, ItemCell, ItemsLeftOut } from './evaluation-cells.tsx'
import { percent } from '../../../units.ts'

export const EvaluatedItems = ({ slug, id }: { readonly slug: string; readonly id: string }) => {
  const { workspace } = useSearch({ strict: false })
  const found = useQuery(evaluationItems(slug, id, { workspace_id: workspace }))
  return (
    <Loaded query={found} rows={4}>
      {({ items, version, baseline, summary, items_done: done }) => (
        <div className="stack">
          {done === items.length ? null : (
            <p className="row" role="status">
              <Meter label="Items done" used={done} limit={items.length} isLimit={false} /> {count(done)} of {count(items.length)} items are
              done.
            </p>
          )}
          <p>
            v{version} passes {rateText(summary.version.pass_rate)}
            {baseline === null ? '' : `, v${baseline} ${rateText(summary.baseline?.pass_rate ?? null)}`}.
          </p>
          <Table<EvaluationResult>
            label="Items"
            rows={items.slice(0, ITEMS_SHOWN)}
            rowKey={({ position }) => String(position)}
            columns={[
              { title: 'Item', isHead: true, cell: (item) => <ItemCell item={item} /> },
              { title: `v${version}`, cell: ({ answer }) => <AnswerCell answer={answer} /> },
              ...(baseline === null
                ? []
                : [{ title: `v${baseline}`, cell: ({ baseline: answer }: EvaluationResult) => <AnswerCell answer={answer} /> }]),
            ]}
          />
          <ItemsLeftOut total={items.length} />
        </div>
      )}
    </Loaded>
  )
}

const rateText = (rate: PassRate): string =>
  rate === null ? 'none yet' : `${percent(rate.value)} of its items (95 %: ${percent(rate.low)} to ${percent(rate.high)})`
