import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import type { ProviderHealth } from '../../api/providers.ts'
import { type Usage, usage } from '../../api/usage.ts'
import { count, numbered } from '../../format.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { KeyName } from '../../parts/key-name.tsx'
import { Table } from '../../parts/table.tsx'
import { useNow } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { filterText } from '../requests/filter.ts'
import { type Affected, affectedBy, failingModels } from './affected.ts'

/** The largest number of groups that the API returns. */
const TOP = 50

/** Up to as many failing models are asked about one by one, so that a busy service's other groups do not crowd theirs out. */
const MODELS_MAX = 5

export const WhoIsAffected = ({ provider }: { provider: ProviderHealth }) => {
  const [isOpen, setOpen] = useState(false)
  const { from, to } = rangeOf({ range: '24h' }, useNow())
  const models = failingModels(provider)
  const asked = models.size > MODELS_MAX ? [undefined] : [...models]
  const sums = (dimension: 'preset' | 'key') => ({
    queries: asked.map((model) => usage({ from, to, interval: 'day', group_by: `${dimension},model`, model, top: TOP })),
    combine: groupsOf,
  })
  // The time moves on each minute; meanwhile the figures of before stay, and so does an open dialog.
  const [byPreset, byKey] = [useLastKnown(useQueries(sums('preset'))), useLastKnown(useQueries(sums('key')))]
  if (byPreset === undefined || byKey === undefined) return <span className="faint">…</span>
  const [presets, keys] = [affectedBy(models, byPreset, 'preset'), affectedBy(models, byKey, 'key')]
  // The combined group has no names, so there may be more than these.
  const least = [...byPreset, ...byKey].some(({ other }) => other === true) ? 'at least ' : ''
  if (presets.length + keys.length === 0)
    return <span className="faint">{least === '' ? '0 presets, 0 keys affected' : 'not known who is affected'}</span>
  const numbers = [
    ...(presets.length === 0 ? [] : [numbered(presets.length, 'preset')]),
    ...(keys.length === 0 ? [] : [numbered(keys.length, 'key')]),
  ]
  const words = `${least}${numbers.join(', ')} affected`
  return (
    <>
      <button type="button" className="link-button" onClick={() => setOpen(true)}>
        {words}
      </button>
      {isOpen ? (
        <Dialog title={`Who is affected by ${provider.name}`} onClose={() => setOpen(false)}>
          <div className="stack">
            <p className="soft">
              They asked {models.size === 1 ? [...models][0] : `one of ${count(models.size)} models`} of {provider.name} in the last 24
              hours{least === '' ? '' : '. Those that spent least may be missing'}.
            </p>
            <AffectedTable title="Preset" rows={presets} />
            <AffectedTable title="Key" rows={keys} />
          </div>
        </Dialog>
      ) : null}
    </>
  )
}

const useLastKnown = <Value,>(value: Value | undefined): Value | undefined => {
  const [last, setLast] = useState(value)
  if (value !== undefined && value !== last) setLast(value)
  return value ?? last
}

/** Undefined until all are known. */
const groupsOf = (results: readonly { readonly data: Usage | undefined }[]): Usage['groups'] | undefined =>
  results.every(({ data }) => data !== undefined) ? results.flatMap(({ data }) => data?.groups ?? []) : undefined

const AffectedTable = ({ title, rows }: { title: 'Preset' | 'Key'; rows: readonly Affected[] }) => (
  <Table
    label={`${title}s that are affected`}
    rows={rows}
    rowKey={({ id }) => id}
    empty={<Empty>{`No ${title.toLowerCase()} is affected.`}</Empty>}
    columns={[
      {
        title,
        isHead: true,
        cell: ({ id, name }) =>
          title === 'Preset' ? (
            <Link to="/presets/$slug" params={{ slug: id }}>
              {name}
            </Link>
          ) : (
            <Link to="/keys" search={{ key: id }}>
              <KeyName name={name} />
            </Link>
          ),
      },
      {
        title: 'Requests, 24 h',
        align: 'right',
        cell: ({ id, requests }) => (
          <Link to="/requests" search={{ q: filterText({ [title.toLowerCase()]: id }), range: '24h' }}>
            {count(requests)}
          </Link>
        ),
      },
    ]}
  />
)
