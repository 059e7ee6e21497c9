/** Makes another version live: shows before what changes for callers, and offers the way back after. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { patchPreset, preset as readPreset, type PresetVersion, type ReadPreset } from '../../api/presets.ts'
import { usage } from '../../api/usage.ts'
import { ContentDiff } from '../../diff/content-diff.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useNow } from '../../parts/when.tsx'
import { rangeOf } from '../../range.ts'
import { takeBack } from '../../shell/take-back.ts'
import { toast } from '../../shell/toasts.tsx'
import { contentOf } from './content-of.ts'
import { servedVersions } from './served-versions.ts'
import { VersionFigures } from './version-figures.tsx'

interface MoveLiveProps {
  readonly preset: ReadPreset
  readonly to: PresetVersion
  readonly onMoved: () => Promise<unknown>
  readonly onClose: () => void
}

export const MoveLive = ({ preset, to, onMoved, onClose }: MoveLiveProps) => {
  const { slug, status, designated_version: live, require_evaluation: isEvaluationRequired, summary } = preset
  const { workspace } = useSearch({ strict: false })
  const queries = useQueryClient()
  const [openedAt] = useState(useNow())
  const { from, to: until } = rangeOf({ range: '24h' }, openedAt)
  const used = useQuery(
    usage({ preset: slug, group_by: 'preset_version', from, to: until, interval: 'day', top: 50, workspace_id: workspace }),
  )
  const isBack = to.version < live.version
  const move = async (version: number, since: ReadPreset | null): Promise<readonly string[]> => {
    const { warnings } = await patchPreset(slug, { designated_version: version }, { query: { workspace_id: workspace }, since })
    await onMoved()
    return warnings
  }
  /** A service that is too busy to be read can still be told to roll back. */
  const readNow = (): Promise<ReadPreset | null> =>
    queries.fetchQuery({ ...readPreset(slug, { workspace_id: workspace }), staleTime: 0, retry: false }).catch(() => null)
  const confirm = async (): Promise<void> => {
    const read = await readNow()
    const now = read?.designated_version.version ?? live.version
    if (now !== live.version && now !== to.version)
      throw new Error(`Nothing was moved: v${now} was put live meanwhile, and is compared with v${to.version} now.`)
    const warnings = await move(to.version, read)
    const effect =
      status === 'active' ? 'is live now; other processes follow within 0.5 s' : `goes live once the preset, which is ${status}, is active`
    const about = `preset ${slug}`
    const ended = summary?.splits ? ', for all callers: the rollout does not go on' : ''
    const undo = (): void =>
      void takeBack({
        what: slug,
        read: readNow,
        isAsLeft: (now) => !now?.summary || servedVersions(now.summary) === `v${to.version}`,
        putBack: (now) => move(live.version, now),
      }).then((isDone) => (isDone ? toast(`v${live.version} of ${slug} is live again${ended}.`, null, about) : undefined))
    toast([`v${to.version} of ${slug} ${effect}.`, ...warnings].join(' '), undo, about)
  }
  return (
    <Confirm
      wide
      title={isBack ? `Roll back ${slug} to v${to.version}` : `Put v${to.version} of ${slug} live`}
      action={isBack ? `Roll back to v${to.version}` : `Put v${to.version} live`}
      onConfirm={confirm}
      onClose={onClose}
    >
      <ContentDiff before={contentOf(live)} after={contentOf(to)} beforeTitle={`v${live.version} (live)`} afterTitle={`v${to.version}`} />
      {isEvaluationRequired && to.designated_at === null ? (
        <p>
          It goes live once it has passed an evaluation.{' '}
          <Link
            to="/presets/$slug"
            params={{ slug }}
            search={{ tab: 'evaluations', start: String(to.version) }}
            onClick={onClose}
          >{`Evaluate v${to.version}`}</Link>
        </p>
      ) : null}
      {summary?.splits ? (
        <p>
          The rollout ({servedVersions(summary)}) ends: every caller gets v{to.version}.
        </p>
      ) : null}
      {used.data === undefined ? null : (
        <section>
          <h3>The last 24 hours</h3>
          <VersionFigures
            groups={used.data.groups.filter(({ preset_version: version }) => version === live.version || version === to.version)}
          />
        </section>
      )}
    </Confirm>
  )
}
