/** The presets of the workspace. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { presetList, type Preset } from '../../api/presets.ts'
import { currentSession } from '../../api/session.ts'
import { count } from '../../format.ts'
import { Money } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { ClearFilter } from '../../parts/clear-filter.tsx'
import { CopyCurl } from '../../parts/copy-curl.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/when.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { filterText } from '../requests/filter.ts'
import { NewPreset } from './new-preset.tsx'
import { servedVersions } from './served-versions.ts'
import { percent } from '../../units.ts'

const STATES = ['active', 'disabled', 'archived'] as const

export const PresetsScreen = () => {
  const { q, state = 'active', workspace } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [creating, setCreating] = useState<'body' | 'file' | null>(null)
  const query = { q, status: state, workspace_id: workspace, include: 'usage,summary' }
  const presets = useInfiniteQuery(presetList(query))
  const isMember = useQuery(currentSession).data?.role === 'member'
  const create = (): void => setCreating(isMember ? null : 'body')
  useKeys({ c: create })
  return (
    <>
      <ScreenHead title="Presets">
        <SearchField label="Filter presets" placeholder="Filter" />
        {isMember ? null : (
          <select
            aria-label="State"
            value={state}
            onChange={(event) => void navigate({ to: '.', search: (before) => ({ ...before, state: event.target.value }) })}
          >
            {STATES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
        <CopyCurl path="/presets" query={query} />
        {isMember ? null : (
          <Menu
            label="New preset"
            button={
              <>
                New preset <span aria-hidden="true">▾</span>
              </>
            }
            kind="primary"
            items={[
              { label: 'From a body…', onSelect: create },
              { label: 'From a request', onSelect: () => void navigate({ to: '/requests' }) },
              { label: 'In the playground', onSelect: () => void navigate({ to: '/playground' }) },
              { label: 'Import a file…', onSelect: () => setCreating('file') },
            ]}
          />
        )}
      </ScreenHead>
      <Panel title="All presets" quiet>
        <Loaded query={presets} rows={8}>
          {(found) => (
            <Table<Preset>
              label="Presets"
              rows={found}
              rowKey={({ id }) => id}
              empty={
                presets.hasNextPage ? null : <NoPresets isFiltered={isMember || q !== undefined || state !== 'active'} onCreate={create} />
              }
              columns={[
                {
                  title: 'Name',
                  isHead: true,
                  cell: ({ slug, name }) => (
                    <>
                      <Link to="/presets/$slug" params={{ slug }}>
                        {slug}
                      </Link>
                      {name === slug ? null : <span className="faint"> {name}</span>}
                    </>
                  ),
                },
                { title: 'Live', cell: ({ summary, latest_version }) => <Live summary={summary} newest={latest_version} /> },
                {
                  title: 'Labels',
                  isWords: true,
                  wideOnly: true,
                  cell: ({ labels }) =>
                    Object.entries(labels)
                      .map(([label, version]) => `${label} → v${version}`)
                      .join(', ') || <span className="faint">–</span>,
                },
                { title: 'Model', wideOnly: true, cell: ({ summary }) => summary?.model ?? <span className="faint">–</span> },
                {
                  title: 'Requests, 24 h',
                  align: 'right',
                  cell: ({ slug, usage }) => (
                    <Link to="/requests" search={{ q: filterText({ preset: slug }) }}>
                      {count(usage?.requests ?? 0)}
                    </Link>
                  ),
                },
                {
                  title: 'Errors',
                  align: 'right',
                  cell: ({ usage }) =>
                    usage === undefined || usage.requests === 0 ? <span className="faint">–</span> : percent(usage.errors / usage.requests),
                },
                { title: 'Cost', align: 'right', wideOnly: true, cell: ({ usage }) => <Money of={usage?.cost ?? 0} /> },
                {
                  title: 'Changed',
                  align: 'right',
                  wideOnly: true,
                  cell: ({ updated_at, summary }) => <Changed at={updated_at} by={summary?.last_change ?? null} />,
                },
              ]}
            />
          )}
        </Loaded>
        <ShowMore list={presets} shown={presets.data?.length ?? 0} />
      </Panel>
      {creating === null ? null : <NewPreset isFile={creating === 'file'} onClose={() => setCreating(null)} />}
    </>
  )
}

type Summary = NonNullable<Preset['summary']>

/** The live version, or the versions that share the requests, and the newest one if it is another. */
const Live = ({ summary, newest }: { summary: Summary | undefined; newest: number }) => {
  if (summary === undefined) return <>{`v${newest}`}</>
  const { live_version: live, splits } = summary
  return (
    <>
      {servedVersions(summary)}
      {newest > live && splits?.some(({ version }) => version === newest) !== true ? (
        <span className="faint"> newest v{newest}</span>
      ) : null}
    </>
  )
}

const Changed = ({ at, by }: { at: string; by: Summary['last_change'] }) =>
  by === null ? (
    <When at={at} />
  ) : (
    <span>
      {by.key_name ?? by.user_name ?? by.user_id ?? 'the shell'}, <When at={by.at} />
    </span>
  )

const NoPresets = ({ isFiltered, onCreate }: { isFiltered: boolean; onCreate: () => void }) =>
  isFiltered ? (
    <Empty action={<ClearFilter parameters={['q', 'state']} />}>No preset fits the filter.</Empty>
  ) : (
    <Empty
      action={
        <Button kind="primary" onClick={onCreate}>
          New preset
        </Button>
      }
    >
      No presets yet. A preset keeps a model, a system prompt and settings under a name that programs use as a model: change it here, and
      nothing is deployed.
    </Empty>
  )
