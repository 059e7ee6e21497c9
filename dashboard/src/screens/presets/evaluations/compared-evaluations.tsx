/** Two evaluations side by side, item by item; the items with a changed outcome come first. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'

import { type ComparedItem, type EvaluationComparison, evaluationComparison } from '../../../api/evaluations.ts'
import { count } from '../../../format.ts'
import { CopyCurl } from '../../../parts/copy-curl.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Status } from '../../../parts/status.tsx'
import { Table } from '../../../parts/table.tsx'
import { AnswerCell, ITEMS_SHOWN, ItemCell, ItemsLeftOut } from './evaluation-cells.tsx'

interface ComparedEvaluationsProps {
  readonly slug: string
  readonly id: string
  readonly other: string
}

export const ComparedEvaluations = ({ slug, id, other }: ComparedEvaluationsProps) => {
  const { workspace } = useSearch({ strict: false })
  const found = useQuery(evaluationComparison(slug, id, other, { workspace_id: workspace }))
  return (
    <Loaded query={found} rows={4}>
      {(comparison) => (
        <div className="stack">
          <p>
            {sentenceOf(comparison)}{' '}
            <CopyCurl
              path={`/presets/${encodeURIComponent(slug)}/evaluations/${id}/comparison`}
              query={{ with: other, workspace_id: workspace }}
            />
          </p>
          <Table<ComparedItem & { readonly position: number }>
            label="Compared items"
            rows={changedFirst(comparison.items).slice(0, ITEMS_SHOWN)}
            rowKey={({ position }) => String(position)}
            columns={[
              { title: 'Item', isHead: true, cell: (item) => <ItemCell item={item} /> },
              { title: 'Change', cell: ({ change }) => <ChangeCell change={change} /> },
              { title: `v${comparison.evaluation.version}`, cell: ({ answer }) => <AnswerCell answer={answer} /> },
              { title: `v${comparison.other.version}, compared with`, cell: ({ other_answer: answer }) => <AnswerCell answer={answer} /> },
            ]}
          />
          <ItemsLeftOut total={comparison.items.length} />
        </div>
      )}
    </Loaded>
  )
}

const sentenceOf = ({ better, worse, same, difference }: EvaluationComparison): string =>
  [
    `${count(better)} better, ${count(worse)} worse, ${count(same)} the same.`,
    ...(difference === null
      ? []
      : [`The pass rates differ by ${points(difference.value)} (95 %: ${points(difference.low)} to ${points(difference.high)}).`]),
  ].join(' ')

const points = (share: number): string => `${share > 0 ? '+' : ''}${Math.round(share * 1000) / 10} points`

const RANK = { worse: 0, better: 1, same: 2 } as const

const changedFirst = (items: readonly ComparedItem[]) =>
  items
    .map((item, position) => ({ ...item, position }))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || one.position - other.position)

const rankOf = ({ change }: ComparedItem): number => (change === null ? 3 : RANK[change])

const ChangeCell = ({ change }: Pick<ComparedItem, 'change'>) => {
  if (change === 'better') return <Status mark="ok">better</Status>
  if (change === 'worse') return <Status mark="error">worse</Status>
  return <Status mark="none">{change ?? 'not in both'}</Status>
}
