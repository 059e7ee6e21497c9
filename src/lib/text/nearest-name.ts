/** Finds the name that was probably meant by an unknown one. */
import { nearDistance } from './edit-distance.ts'

/** The name in `known` that is nearest to `name`; null if none is near. */
export const nearestName = (known: readonly string[], name: string): string | null => {
  const wanted = plain(name)
  const [best] = known
    .map((each) => ({ each, distance: nearDistance(wanted, plain(each)) }))
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance)
  return best?.each ?? null
}

const COMPARED_LENGTH = 100

const plain = (name: string): string => name.slice(0, COMPARED_LENGTH).toLowerCase().replaceAll('-', '_')

/** ` Did you mean "…"?`, to append to a sentence; empty if no name is near. */
export const nearestHint = (known: readonly string[], name: string): string => {
  const near = nearestName(known, name)
  return near === null ? '' : ` Did you mean "${near}"?`
}
