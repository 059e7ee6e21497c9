/** Long parts that two texts have in common are folded, so that a change far down in a prompt is seen at once. */
export interface Folded {
  readonly before: string
  readonly lines: number
  readonly after: string
}

/** The lines that stay beside a change, besides the rest of its own line. */
const KEPT = 2
/** Fewer lines are not worth a fold. */
const LEAST = 4

/** Null for a text that is too short to fold. `isFirst` and `isLast`: no change comes before it, or after it. */
export const foldSame = (text: string, isFirst: boolean, isLast: boolean): Folded | null => {
  const lines = text.split('\n')
  const [from, to] = [isFirst ? 0 : KEPT + 1, isLast ? lines.length : lines.length - KEPT - 1]
  if (to - from < LEAST) return null
  const part = (kept: readonly string[]): string => kept.join('\n')
  return { before: part(lines.slice(0, from)), lines: to - from, after: part(lines.slice(to)) }
}
