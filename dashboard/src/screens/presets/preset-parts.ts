import type { PresetVersion, ReadPreset } from '../../api/presets.ts'
import type { MoreRows } from '../../parts/show-more.tsx'

/** The properties that every part of the screen gets. */
export interface PresetParts {
  readonly preset: ReadPreset
  /** Newest first: those that are listed, and older ones that the address names. */
  readonly versions: readonly PresetVersion[]
  /** The newest ones, without a gap. */
  readonly listed: readonly PresetVersion[]
  /** False while a version that the address names is fetched. */
  readonly isWhole: boolean
  /** Lists older ones. */
  readonly moreVersions: MoreRows
}
