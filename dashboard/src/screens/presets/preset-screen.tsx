/** One preset: its editor, its history, the versions that callers get, and the keys that use it. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { preset, presetMoves, presetVersions } from '../../api/presets.ts'
import { currentSession } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/copy.tsx'
import { CopyPresetCurl } from '../../parts/copy-preset-curl.tsx'
import { Loaded, Skeleton } from '../../parts/loaded.tsx'
import { FaultBoundary } from '../../parts/panel.tsx'
import { ScreenHead } from '../../parts/screen-head.tsx'
import { tabNamed, Tabs } from '../../parts/tabs.tsx'
import { useFurtherPages } from '../../parts/use-further-pages.ts'
import { Editor } from './editor.tsx'
import { Evaluations } from './evaluations/evaluations.tsx'
import { History } from './history.tsx'
import { LabelsAndRollout } from './labels-and-rollout.tsx'
import { liveBefore } from './live-before.ts'
import { MoveLive } from './move-live.tsx'
import type { PresetParts } from './preset-parts.ts'
import { PresetReading } from './preset-reading.tsx'
import { PresetSettings } from './preset-settings.tsx'
import { PresetState } from './preset-state.tsx'
import { UsedBy } from './used-by.tsx'
import { useVersions } from './use-versions.ts'

const TABS = [
  { id: 'edit', title: 'Edit' },
  { id: 'history', title: 'History' },
  { id: 'labels', title: 'Labels and rollout' },
  { id: 'evaluations', title: 'Evaluations' },
  { id: 'used', title: 'Used by' },
  { id: 'settings', title: 'Settings' },
] as const

/** How many moves are searched for the version that was live before. */
const MOVES_MAX = 1000

/** The parameters of the address that name a version. */
const NAMING = ['version', 'compare', 'with', 'start'] as const

export const PresetScreen = () => {
  const { slug = '' } = useParams({ strict: false })
  const search = useSearch({ strict: false })
  const scope = { workspace_id: search['workspace'] }
  const found = useQuery(preset(slug, scope))
  const role = useQuery(currentSession).data?.role
  const versions = useInfiniteQuery({ ...presetVersions(slug, scope), enabled: role === 'admin' })
  const live = found.data?.designated_version
  const loaded = versions.data ?? []
  const known = live === undefined || loaded.some(({ version }) => version === live.version) ? loaded : [...loaded, live]
  const named = useVersions(slug, scope, known, versions.data === undefined ? [] : NAMING.map((name) => Number(search[name])))
  // Once it is shown, it stays while another version is fetched: the editor would otherwise begin anew, from another version.
  const [shown, setShown] = useState('')
  if (shown !== slug && found.data !== undefined && versions.data !== undefined && named.isWhole) setShown(slug)
  if (found.data !== undefined && role === 'member') return <PresetReading preset={found.data} />
  if (found.data !== undefined && versions.data !== undefined && shown === slug)
    return <Preset key={slug} preset={found.data} {...named} listed={versions.data} moreVersions={versions} />
  return (
    <>
      <ScreenHead title={slug} />
      <Loaded query={found} rows={8}>
        {() => (
          <Loaded query={versions} rows={8}>
            {() => <Skeleton rows={8} />}
          </Loaded>
        )}
      </Loaded>
    </>
  )
}

const Preset = (parts: PresetParts) => {
  const { slug, designated_version: live, name } = parts.preset
  const { tab: named, workspace } = useSearch({ strict: false })
  const tab = tabNamed(TABS, named)
  const queries = useQueryClient()
  const moves = useInfiniteQuery(presetMoves(slug, { workspace_id: workspace }))
  const [isRollingBack, setRollingBack] = useState(false)
  const before = liveBefore(moves.data ?? [], live.version)
  // Moves of labels may fill whole pages.
  const mayBeFurther = before === null && (moves.data?.length ?? 0) < MOVES_MAX
  useFurtherPages(moves, mayBeFurther)
  const { versions } = useVersions(slug, { workspace_id: workspace }, parts.versions, before === null ? [] : [before])
  const previous = versions.find(({ version }) => version === before)
  // It has its place from the beginning, so that the buttons beside it do not move when it can be pressed.
  const isReading = moves.isPending || (mayBeFurther && moves.hasNextPage && !moves.isFetchNextPageError)
  const isSought = parts.versions.length > 1 && (isReading || before !== null)
  return (
    <>
      <ScreenHead title={name}>
        <PresetState preset={parts.preset} />
        <Copy text={`@preset/${slug}`}>{`@preset/${slug}`}</Copy>
        <CopyPresetCurl slug={slug} query={{ workspace_id: workspace }} />
        <Link className="button plain" to="/playground" search={{ model: `@preset/${slug}` }}>
          Open in playground
        </Link>
        <Link className="button plain wide-only" to="/setup" search={{ model: `@preset/${slug}` }}>
          Connect a client
        </Link>
        {previous === undefined && !isSought ? null : (
          <Button disabled={previous === undefined} onClick={() => setRollingBack(true)}>
            Roll back
          </Button>
        )}
      </ScreenHead>
      <Tabs label="Parts of the preset" tabs={TABS} current={tab} />
      <FaultBoundary key={tab}>
        {tab === 'edit' ? <Editor {...parts} /> : null}
        {tab === 'history' ? <History {...parts} moves={moves.data ?? []} moreMoves={moves} /> : null}
        {tab === 'labels' ? <LabelsAndRollout {...parts} /> : null}
        {tab === 'evaluations' ? <Evaluations {...parts} /> : null}
        {tab === 'used' ? <UsedBy {...parts} /> : null}
        {tab === 'settings' ? <PresetSettings {...parts} /> : null}
      </FaultBoundary>
      {isRollingBack && previous !== undefined ? (
        <MoveLive
          {...parts}
          to={previous}
          onMoved={() => queries.invalidateQueries({ queryKey: ['presets'] })}
          onClose={() => setRollingBack(false)}
        />
      ) : null}
    </>
  )
}
