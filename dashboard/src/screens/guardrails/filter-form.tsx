import { useId } from 'react'

import { count } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { HitRequests } from './hit-requests.tsx'
import { BUILTINS, FILTER_ACTIONS, FILTER_SIDES, type FilterRow, type PatternFaults, type RowHits } from './filter-rows.ts'

interface FilterFormProps {
  /** The id of the guardrail. */
  readonly guardrail: string
  readonly rows: readonly FilterRow[]
  readonly faults: PatternFaults
  readonly hits: ReadonlyMap<number, RowHits>
  readonly onRows: (rows: readonly FilterRow[]) => void
}

export const FilterForm = ({ guardrail, rows, faults, hits, onRows }: FilterFormProps) => {
  const about = useId()
  const change = (id: number, changes: Partial<FilterRow>): void =>
    onRows(rows.map((row) => (row.id === id ? { ...row, ...changes } : row)))
  const add = (slug: FilterRow['slug']): void =>
    onRows([
      ...rows,
      {
        id: Math.max(2000, ...rows.map(({ id }) => id + 1)),
        slug,
        pattern: '',
        label: '',
        action: slug === null ? 'block' : 'redact',
        side: 'both',
      },
    ])
  const left = BUILTINS.filter((slug) => !rows.some((row) => row.slug === slug))
  return (
    <div className="stack">
      {rows.length === 0 ? <p className="soft">It filters nothing yet.</p> : null}
      <ul className="filter-rows">
        {rows.map((row) => {
          const name = row.slug ?? (row.label || 'pattern')
          const fault = faults.get(row.id)
          const hit = hits.get(row.id)
          return (
            <li key={row.id}>
              {row.slug === null ? (
                <span className="pattern">
                  <input
                    aria-label="Pattern"
                    placeholder="Pattern, such as ACME-\d+"
                    className="mono"
                    value={row.pattern}
                    spellCheck={false}
                    aria-invalid={fault !== undefined}
                    aria-describedby={fault === undefined ? undefined : `${about}-${row.id}`}
                    onChange={(event) => change(row.id, { pattern: event.target.value })}
                  />
                  <input
                    aria-label="Placeholder"
                    placeholder="Placeholder"
                    value={row.label}
                    onChange={(event) => change(row.id, { label: event.target.value })}
                  />
                </span>
              ) : (
                <code>{row.slug}</code>
              )}
              <Choice
                label={`Action of ${name}`}
                of={FILTER_ACTIONS}
                value={row.action}
                onChoose={(action) => change(row.id, { action })}
              />
              <Choice label={`Side of ${name}`} of={FILTER_SIDES} value={row.side} onChoose={(side) => change(row.id, { side })} />
              <button
                type="button"
                className="icon-button"
                aria-label={`Remove ${name}`}
                onClick={() => onRows(rows.filter(({ id }) => id !== row.id))}
              >
                ×
              </button>
              <span className="faint hits">
                {hit === undefined ? (
                  'not saved'
                ) : (
                  <HitRequests guardrail={guardrail} hits={hit.requests}>
                    {`${count(hit.requests)} ${hit.requests === 1 ? 'hit' : 'hits'} in 24 h`}
                  </HitRequests>
                )}
                {hit?.isShared === true ? ', with its like' : ''}
              </span>
              {fault === undefined ? null : (
                <p id={`${about}-${row.id}`} className="fault" role="alert">
                  {fault}
                </p>
              )}
            </li>
          )
        })}
      </ul>
      {rows.some(({ id, action }) => action === 'block' && (hits.get(id)?.requests ?? 0) > 0) ? (
        <p className="faint small">A request that is blocked before a model is asked counts as a hit, and has no record to list.</p>
      ) : null}
      <div className="row">
        <select
          aria-label="Add a built-in filter"
          value=""
          onChange={(event) => {
            const slug = left.find((known) => known === event.target.value)
            if (slug !== undefined) add(slug)
          }}
        >
          <option value="">+ built-in filter</option>
          {left.map((slug) => (
            <option key={slug} value={slug}>
              {slug}
            </option>
          ))}
        </select>
        <Button onClick={() => add(null)}>+ pattern</Button>
      </div>
    </div>
  )
}

const Choice = <Value extends string>(parts: { label: string; of: readonly Value[]; value: Value; onChoose: (value: Value) => void }) => (
  <select
    aria-label={parts.label}
    value={parts.value}
    onChange={(event) => {
      const chosen = parts.of.find((value) => value === event.target.value)
      if (chosen !== undefined) parts.onChoose(chosen)
    }}
  >
    {parts.of.map((value) => (
      <option key={value} value={value}>
        {value}
      </option>
    ))}
  </select>
)
