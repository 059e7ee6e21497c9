import { useQueries } from '@tanstack/react-query'

import { presetVersion, type PresetVersion } from '../../api/presets.ts'
import type { Query } from '../../api/path.ts'

interface Versions {
  /** Newest first. */
  readonly versions: readonly PresetVersion[]
  readonly isWhole: boolean
}

/**
 * The versions that are loaded, and those that are named: an address and the history may name any version, and only the newest are loaded
 * at first.
 */
export const useVersions = (slug: string, scope: Query, loaded: readonly PresetVersion[], named: readonly number[]): Versions => {
  const missing = [...new Set(named)].filter(
    (one) => one > 0 && Number.isSafeInteger(one) && !loaded.some(({ version }) => version === one),
  )
  return useQueries({
    queries: missing.map((version) => ({ ...presetVersion(slug, version, scope), retry: false })),
    combine: (found) => ({
      versions: [...loaded, ...found.flatMap(({ data }) => data ?? [])].toSorted((one, other) => other.version - one.version),
      isWhole: found.every(({ isPending }) => !isPending),
    }),
  })
}
