import type { PresetVersion, PresetWithVersion } from '../../api/presets.ts'
import type { MoreRows } from '../../parts/show-more.tsx'

/** The properties that every part of the screen gets. */
export interface PresetParts {
  readonly preset: PresetWithVersion
  /** Newest first. */
  readonly versions: readonly PresetVersion[]
  /** Loads versions that are older than these. */
  readonly moreVersions: MoreRows
}
