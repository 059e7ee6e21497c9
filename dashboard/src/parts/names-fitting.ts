/** The most names that a list below an input shows. A longer one would hold up each key that is typed. */
const NAMES_MAX = 50

/** The names that contain what is typed, those that begin with it first. */
export const namesFitting = (names: readonly string[], typed: string): readonly string[] => {
  const text = typed.trim().toLowerCase()
  const fitting = names.filter((name) => name.toLowerCase().includes(text))
  const begins = (name: string): number => Number(name.toLowerCase().startsWith(text))
  return fitting.toSorted((one, other) => begins(other) - begins(one)).slice(0, NAMES_MAX)
}
