import type { ReadPreset } from '../../api/presets.ts'
import { asHead } from '../../format.ts'
import { Status } from '../../parts/status.tsx'
import { servedVersions } from './served-versions.ts'

/** The version that callers get, or why they get none. */
export const PresetState = ({ preset: { status, designated_version: live, summary } }: { preset: ReadPreset }) =>
  status === 'active' ? (
    <span className="soft">{summary?.splits ? `${servedVersions(summary)} (rollout)` : `v${live.version} live`}</span>
  ) : (
    <Status mark="disabled">{`${asHead(status)}: no request gets it`}</Status>
  )
