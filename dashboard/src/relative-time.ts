/** Formats a time relative to now. */
const UNITS = [
  ['min', 60, 60],
  ['h', 3600, 24],
  ['d', 86_400, Number.POSITIVE_INFINITY],
] as const

/** The page updates its clock only this often, so something that has just happened may lie ahead of it. */
const BEHIND_SECONDS = 20

/** `2 min ago`, or `in 3 h` for a time ahead. */
export const relative = (iso: string, nowMs: number): string => {
  const seconds = Math.round((nowMs - Date.parse(iso)) / 1000)
  const size = Math.abs(seconds)
  if (size < 45) return seconds >= -BEHIND_SECONDS ? 'just now' : 'in a moment'
  // Rounded first, so that no unit reaches the next one: 59 min 45 s are an hour.
  const [amount] = UNITS.flatMap(([unit, length, most]) => (Math.round(size / length) < most ? `${Math.round(size / length)} ${unit}` : []))
  return seconds > 0 ? `${amount} ago` : `in ${amount}`
}
