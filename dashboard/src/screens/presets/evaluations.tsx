/** The evaluations of a preset: the outcome of each, its answers, and two of them side by side. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'

import { type Evaluation, evaluationList } from '../../api/evaluations.ts'
import { count, money } from '../../format.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'
import { ComparedEvaluations } from './compared-evaluations.tsx'
import { EvaluatedItems } from './evaluated-items.tsx'
import type { PresetParts } from './preset-screen.tsx'

export const Evaluations = ({ preset: { slug } }: PresetParts) => {
  const { workspace, evaluation: chosen, with: other } = useSearch({ strict: false })
  const navigate = useNavigate()
  const found = useQuery(evaluationList(slug, { workspace_id: workspace }))
  const compare = (id: string): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, with: id }), replace: true, resetScroll: false })
  return (
    <Loaded query={found} rows={4}>
      {(evaluations) => {
        const shown = evaluations.find(({ id }) => id === chosen) ?? evaluations[0]
        if (shown === undefined) {
          return (
            <Empty>
              No evaluations yet. <code>patchbay eval {slug} --version N --set FILE</code> runs one.
            </Empty>
          )
        }
        const others = evaluations.filter(({ id }) => id !== shown.id)
        return (
          <>
            <Panel title="Evaluations">
              <Table<Evaluation>
                label="Evaluations"
                rows={evaluations}
                rowKey={({ id }) => id}
                isSelected={({ id }) => id === shown.id}
                columns={[
                  {
                    title: 'Evaluation',
                    isHead: true,
                    cell: (evaluation) => (
                      <Link to="." search={(before) => ({ ...before, evaluation: evaluation.id, with: undefined })} resetScroll={false}>
                        {titleOf(evaluation)}
                      </Link>
                    ),
                  },
                  { title: 'Outcome', cell: (evaluation) => <Outcome evaluation={evaluation} /> },
                  { title: 'Items', align: 'right', cell: ({ items_total: total }) => count(total) },
                  { title: 'Cost', align: 'right', cell: ({ cost }) => money(cost) },
                  { title: 'Started', wideOnly: true, cell: ({ created_at: at }) => <When at={at} /> },
                ]}
              />
            </Panel>
            <Panel
              title={titleOf(shown)}
              actions={
                others.length === 0 ? null : (
                  <select aria-label="Compare with" value={other ?? ''} onChange={(event) => compare(event.target.value)}>
                    <option value="">Compare with…</option>
                    {others.map((one) => (
                      <option key={one.id} value={one.id}>
                        {titleOf(one)}
                      </option>
                    ))}
                  </select>
                )
              }
            >
              {shown.reason === null ? null : <p className="note">It ended early: {shown.reason}</p>}
              {other === undefined ? (
                <EvaluatedItems slug={slug} id={shown.id} />
              ) : (
                <ComparedEvaluations slug={slug} id={shown.id} other={other} />
              )}
            </Panel>
          </>
        )
      }}
    </Loaded>
  )
}

/** Evaluations of one version may have one name: the time tells them apart. */
const titleOf = ({ name, version, created_at: at, baseline }: Evaluation): string =>
  `${name ?? 'Evaluation'} of v${version}${baseline === null ? '' : ` beside v${baseline}`}, ${at.slice(0, 16).replace('T', ' ')}`

const Outcome = ({ evaluation: { state, passed } }: { readonly evaluation: Evaluation }) => {
  if (state === 'running') return <Status mark="left">running</Status>
  if (state !== 'done') return <Status mark="none">{state}</Status>
  return passed === true ? <Status mark="ok">passed</Status> : <Status mark="error">failed</Status>
}
