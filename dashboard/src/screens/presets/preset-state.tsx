import type { PresetWithVersion } from '../../api/presets.ts'
import { asHead } from '../../format.ts'
import { Status } from '../../parts/status.tsx'

/** The version that callers get, or why they get none. */
export const PresetState = ({ preset: { status, designated_version: live } }: { preset: PresetWithVersion }) =>
  status === 'active' ? (
    <span className="soft">v{live.version} live</span>
  ) : (
    <Status mark="disabled">{`${asHead(status)}: no request gets it`}</Status>
  )
