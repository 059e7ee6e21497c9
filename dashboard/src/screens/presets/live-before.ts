import type { PresetMove } from '../../api/presets.ts'

/**
 * The version to roll back to: the one that was live before the present one, without versions that were rolled back from. Null if there is
 * none. `moves`: newest first.
 */
export const liveBefore = (moves: readonly Pick<PresetMove, 'label' | 'from' | 'to'>[], live: number): number | null => {
  const versions: number[] = []
  for (const { label, from, to } of moves.toReversed()) {
    if (label !== null || to === null) continue
    if (versions.length === 0 && from !== null) versions.push(from)
    const known = versions.lastIndexOf(to)
    if (known < 0) versions.push(to)
    else versions.length = known + 1
  }
  return versions[versions.lastIndexOf(live) - 1] ?? null
}
