import type { Preset } from '../../api/presets.ts'
import { percent } from '../../format.ts'

/** `v3`, or `v3 90 %, v2 10 %` during a rollout: the versions that callers get who ask for none. */
export const servedVersions = ({ live_version: live, splits }: Pick<NonNullable<Preset['summary']>, 'live_version' | 'splits'>): string => {
  const total = splits?.reduce((sum, { weight }) => sum + weight, 0) ?? 0
  return splits?.map(({ version, weight }) => `v${version} ${percent(weight / total)}`).join(', ') ?? `v${live}`
}
