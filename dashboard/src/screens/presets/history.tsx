/** The versions of a preset, newest first, and the comparison of two of them. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { PresetMove, PresetVersion } from '../../api/presets.ts'
import { type Usage, usage } from '../../api/usage.ts'
import { ContentDiff } from '../../diff/content-diff.tsx'
import { count } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { Person } from '../../parts/person.tsx'
import { Panel } from '../../parts/panel.tsx'
import { type MoreRows, ShowMore } from '../../parts/show-more.tsx'
import { Table } from '../../parts/table.tsx'
import { useNow, When } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { percent } from '../../units.ts'
import { filterText } from '../requests/filter.ts'
import { contentOf } from './content-of.ts'
import { MoveLive } from './move-live.tsx'
import type { PresetParts } from './preset-parts.ts'
import { VersionSelect } from './version-select.tsx'

interface HistoryProps extends PresetParts {
  readonly moves: readonly PresetMove[]
  readonly moreMoves: MoreRows
}

export const History = ({ preset, versions, listed, moreVersions, moves, moreMoves }: HistoryProps) => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [moving, setMoving] = useState<PresetVersion | null>(null)
  const usedBy = useVersionsUsed(preset.slug)
  const failedOf = (version: number): number | null => {
    const sums = usedBy(version)
    return sums === undefined || sums.requests === 0 ? null : sums.errors / sums.requests
  }
  const live = preset.designated_version.version
  const newest = versions[0]?.version ?? live
  const first = Number(search['compare'] ?? (newest === live ? (versions[1]?.version ?? live) : live))
  const second = Number(search['with'] ?? newest)
  const [one, other] = [first, second].map((number) => versions.find(({ version }) => version === number))
  const choose =
    (name: 'compare' | 'with') =>
    (version: string): void =>
      void navigate({ to: '.', search: (before) => ({ ...before, [name]: version }), replace: true, resetScroll: false })
  return (
    <>
      <Panel title="Versions">
        <Table<PresetVersion>
          label="Versions"
          rows={listed}
          rowKey={({ id }) => id}
          columns={[
            {
              title: 'Version',
              isHead: true,
              cell: ({ version }) => <VersionName version={version} before={listed.find((one) => one.version < version)} />,
            },
            {
              title: 'Stands as',
              isWords: true,
              cell: ({ version }) => (
                <>
                  {[
                    ...(version === live ? ['live'] : []),
                    ...Object.entries(preset.labels).flatMap(([label, at]) => (at === version ? [label] : [])),
                  ].join(', ') || <span className="faint">–</span>}
                  {failedOf(version) ? <div className="narrow-only small soft">{percent(failedOf(version))} failed</div> : null}
                </>
              ),
            },
            { title: 'Note', isWords: true, cell: ({ note }) => note ?? <span className="faint">–</span> },
            { title: 'By', wideOnly: true, cell: ({ creator_id: by }) => <Person id={by} /> },
            { title: 'Saved', wideOnly: true, cell: ({ created_at: at }) => <When at={at} /> },
            { title: 'Last live', wideOnly: true, cell: ({ designated_at: at }) => <When at={at} /> },
            {
              title: 'Requests, 24 h',
              align: 'right',
              wideOnly: true,
              cell: ({ version }) => {
                const requests = usedBy(version)?.requests
                return requests === undefined ? (
                  <span className="faint">–</span>
                ) : (
                  <Link to="/requests" search={{ q: filterText({ preset: preset.slug, version }), range: '24h' }}>
                    {count(requests)}
                  </Link>
                )
              },
            },
            {
              title: 'Errors',
              align: 'right',
              wideOnly: true,
              cell: ({ version }) => percent(failedOf(version)),
            },
            {
              title: 'Change',
              align: 'right',
              cell: (version) =>
                version.version === live ? null : (
                  <Button onClick={() => setMoving(version)}>
                    {version.version < live ? `Roll back to v${version.version}` : `Put v${version.version} live`}
                  </Button>
                ),
            },
          ]}
        />
        <ShowMore list={moreVersions} shown={listed.length} />
      </Panel>
      {versions.length < 2 || one === undefined || other === undefined ? null : (
        <Panel
          title="Compare"
          actions={
            <span className="row">
              <VersionSelect label="Compare" versions={versions} value={first} onChange={choose('compare')} />
              with
              <VersionSelect label="with" versions={versions} value={second} onChange={choose('with')} />
            </span>
          }
        >
          <ContentDiff before={contentOf(one)} after={contentOf(other)} beforeTitle={`v${one.version}`} afterTitle={`v${other.version}`} />
        </Panel>
      )}
      {moves.length === 0 ? null : (
        <Panel title="What was live when">
          <Table<PresetMove>
            label="What was live when"
            rows={moves}
            rowKey={({ moved_at: at, label, to }) => `${at} ${label} ${to}`}
            columns={[
              { title: 'When', isHead: true, cell: ({ moved_at: at }) => <When at={at} exact /> },
              { title: 'What', cell: ({ label }) => label ?? 'live' },
              { title: 'From', cell: ({ from }) => (from === null ? '–' : `v${from}`) },
              { title: 'To', cell: ({ to }) => (to === null ? 'removed' : `v${to}`) },
              { title: 'By', wideOnly: true, cell: ({ user_id: by }) => <Person id={by} /> },
            ]}
          />
          <ShowMore list={moreMoves} shown={moves.length} />
        </Panel>
      )}
      {moving === null ? null : (
        <MoveLive
          preset={preset}
          to={moving}
          onMoved={() => queries.invalidateQueries({ queryKey: ['presets'] })}
          onClose={() => setMoving(null)}
        />
      )}
    </>
  )
}

/** The figures of the last 24 hours, which say at once whether a version that went live fails. */
const useVersionsUsed = (slug: string): ((version: number) => Usage['groups'][number] | undefined) => {
  const { workspace } = useSearch({ strict: false })
  const { from, to } = rangeOf({ range: '24h' }, useNow())
  const used = useQuery({
    ...usage({ preset: slug, group_by: 'preset_version', from, to, interval: 'day', top: 50, workspace_id: workspace }),
    placeholderData: (before) => before,
  })
  return (version) => used.data?.groups.find(({ preset_version: one }) => one === version)
}

/** A link to the changes from the version before. */
const VersionName = ({ version, before }: { version: number; before: PresetVersion | undefined }) =>
  before === undefined ? (
    `v${version}`
  ) : (
    <Link
      to="."
      search={(search) => ({ ...search, compare: String(before.version), with: String(version) })}
      replace
      resetScroll={false}
      aria-label={`Compare v${version} with v${before.version}`}
    >
      v{version}
    </Link>
  )
