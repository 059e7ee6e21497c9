import type { Preset } from '../../api/presets.ts'

type Summary = NonNullable<Preset['summary']>

/** `90 %`, without a decimal that says nothing, since shares are given in whole numbers. */
export const shareOf = (weight: number, splits: readonly { readonly weight: number }[]): string =>
  `${Number(((weight / (splits.reduce((sum, split) => sum + split.weight, 0) || 1)) * 100).toFixed(1))}\u00a0%`

/** `v3`, or `v3 90 %, v2 10 %` during a rollout: the versions that callers get who ask for none. */
export const servedVersions = ({ live_version: live, splits }: Summary): string =>
  splits?.map(({ version, weight }) => `v${version}\u00a0${shareOf(weight, splits)}`).join(', ') ?? `v${live}`
