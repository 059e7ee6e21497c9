/**
 * Assigns versions of a preset to callers. A name always falls on the same one of a million slots, and each version has as many slots as
 * its weight requires. When weights change, only the slots that must change hands do so: no other caller changes its version.
 */
import { createHash } from 'node:crypto'

import type { Split } from '../contract/split.ts'

/** The slots from the previous segment's end up to, but not including, `end`. */
export interface Segment {
  readonly end: number
  readonly version: number
}

const SLOTS = 1_000_000

/** A layout with more segments than this is computed anew. */
const SEGMENTS_MAX = 1000

/** `before`: the current layout; empty for a new rollout. At least one weight must be above 0. */
export const layOut = (splits: readonly Split[], before: readonly Segment[] = []): readonly Segment[] => {
  const missing = quotasOf(splits)
  const kept = keep(before.length > SEGMENTS_MAX ? [] : before, missing)
  const filled: Segment[] = []
  for (const { end, version } of kept) {
    let from = filled.at(-1)?.end ?? 0
    if (version !== null) push(filled, end, version)
    else {
      for (const [taker, count] of missing) {
        const taken = Math.min(count, end - from)
        if (taken === 0) continue
        missing.set(taker, count - taken)
        from += taken
        push(filled, from, taker)
      }
    }
  }
  return filled
}

export const versionAt = (segments: readonly Segment[], slot: number): number => {
  const segment = segments.find(({ end }) => slot < end)
  if (segment === undefined) throw new RangeError('The slot is in no segment.')
  return segment.version
}

/** `presetId` makes the draws of two presets independent. */
export const slotOf = (presetId: string, name: string): number => {
  const bytes = createHash('sha256').update(`${presetId}\0${name}`).digest()
  return Math.floor((bytes.readUIntBE(0, 6) / 2 ** 48) * SLOTS)
}

/** Whole slots that add up to all slots: those left over go to the versions that lost most by rounding. */
const quotasOf = (splits: readonly Split[]): Map<number, number> => {
  const total = splits.reduce((sum, { weight }) => sum + weight, 0)
  const exact = splits.map(({ version, weight }) => ({ version, share: (weight / total) * SLOTS }))
  const quotas = new Map(exact.map(({ version, share }) => [version, Math.floor(share)]))
  let left = SLOTS - [...quotas.values()].reduce((sum, quota) => sum + quota, 0)
  const byRest = exact.toSorted((one, other) => (other.share % 1) - (one.share % 1) || one.version - other.version)
  for (const { version } of byRest) {
    if (left === 0) break
    quotas.set(version, (quotas.get(version) ?? 0) + 1)
    left -= 1
  }
  return quotas
}

/** Each version keeps as many of its slots as its new quota allows, which `missing` is reduced by; the other slots are free: null. */
const keep = (before: readonly Segment[], missing: Map<number, number>): readonly { end: number; version: number | null }[] => {
  if (before.length === 0) return [{ end: SLOTS, version: null }]
  const out: { end: number; version: number | null }[] = []
  let from = 0
  for (const { end, version } of before) {
    const may = missing.get(version) ?? 0
    const kept = Math.min(may, end - from)
    if (kept > 0) {
      missing.set(version, may - kept)
      out.push({ end: from + kept, version })
    }
    if (from + kept < end) out.push({ end, version: null })
    from = end
  }
  return out
}

const push = (segments: Segment[], end: number, version: number): void => {
  const last = segments.at(-1)
  if (last?.version === version) segments[segments.length - 1] = { end, version }
  else segments.push({ end, version })
}
