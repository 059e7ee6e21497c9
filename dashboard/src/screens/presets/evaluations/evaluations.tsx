/** The evaluations of a preset: the outcome of each, its answers, and two of them side by side. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'

import { type Evaluation, evaluationList } from '../../../api/evaluations.ts'
import { count, instant } from '../../../format.ts'
import { Money } from '../../../parts/amount.tsx'
import { Button } from '../../../parts/button.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Panel } from '../../../parts/panel.tsx'
import { Status } from '../../../parts/status.tsx'
import { ShowMore } from '../../../parts/show-more.tsx'
import { Table } from '../../../parts/table.tsx'
import { When } from '../../../parts/when.tsx'
import { ComparedEvaluations } from './compared-evaluations.tsx'
import { EvaluatedItems } from './evaluated-items.tsx'
import { EvaluationRun } from './evaluation-run.tsx'
import { StartEvaluation } from './start-evaluation.tsx'
import type { PresetParts } from '../preset-parts.ts'

export const Evaluations = (parts: PresetParts) => {
  const { preset, versions } = parts
  const { slug } = preset
  const { workspace, evaluation: chosen, with: other, start } = useSearch({ strict: false })
  const navigate = useNavigate()
  const found = useInfiniteQuery(evaluationList(slug, { workspace_id: workspace }))
  const compare = (id: string): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, with: id }), replace: true, resetScroll: false })
  // People usually evaluate the newest version, which may be a draft.
  const newest = versions[0]?.version ?? preset.designated_version.version
  const begin = (version: number | undefined): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, start: version?.toString() }), resetScroll: false })
  const beginButton = (
    <Button kind="primary" onClick={() => begin(newest)}>
      New evaluation
    </Button>
  )
  const dialog = versions.some(({ version }) => version === Number(start)) ? (
    <StartEvaluation {...parts} version={Number(start)} onClose={() => begin(undefined)} />
  ) : null
  return (
    <>
      <Loaded query={found} rows={4}>
        {(evaluations) => {
          const shown = evaluations.find(({ id }) => id === chosen) ?? evaluations[0]
          if (shown === undefined) {
            return (
              <Empty
                action={
                  <>
                    {beginButton}
                    <p>
                      In a pipeline, <code>patchbay eval {slug} --version N --set FILE</code> runs one.
                    </p>
                  </>
                }
              >
                No evaluations yet: one runs a version over a set of items and checks its answers, before it is live.
              </Empty>
            )
          }
          const others = evaluations.filter(({ id }) => id !== shown.id)
          return (
            <>
              <Panel title="Evaluations" actions={beginButton}>
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
                    { title: 'Cost', align: 'right', cell: ({ cost }) => <Money of={cost} /> },
                    { title: 'Started', wideOnly: true, cell: ({ created_at: at }) => <When at={at} /> },
                  ]}
                />
                <ShowMore list={found} shown={evaluations.length} />
              </Panel>
              {chosen === undefined || shown.id === chosen ? null : (
                <p className="note">
                  The evaluation that the address names is not in this list: it was deleted, or is further down. This is the newest one.
                </p>
              )}
              <Panel
                title={titleOf(shown)}
                actions={
                  <span className="row">
                    <EvaluationRun slug={slug} evaluation={shown} />
                    {others.length === 0 ? null : (
                      <select aria-label="Compare with" value={other ?? ''} onChange={(event) => compare(event.target.value)}>
                        <option value="">Compare with…</option>
                        {others.map((one) => (
                          <option key={one.id} value={one.id}>
                            {titleOf(one)}
                          </option>
                        ))}
                      </select>
                    )}
                  </span>
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
      {dialog}
    </>
  )
}

/** Evaluations of one version may have the same name, so the title includes the time. */
const titleOf = ({ name, version, created_at: at, baseline }: Evaluation): string =>
  `${name ?? 'Evaluation'} of v${version}${baseline === null ? '' : ` beside v${baseline}`}, ${instant(at)}`

const Outcome = ({ evaluation: { state, passed } }: { readonly evaluation: Evaluation }) => {
  if (state === 'running') return <Status mark="left">running</Status>
  if (state !== 'done') return <Status mark="none">{state}</Status>
  return passed === true ? <Status mark="ok">passed</Status> : <Status mark="error">failed</Status>
}
