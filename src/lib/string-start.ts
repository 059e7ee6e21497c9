/** JSON text as a search sees it: where its strings begin, behind white space as it stands or as an escape. */

/** Longer white space counts as the beginning of a string, so that a search takes no long steps. */
const SPACE_MAX = 64 * 1024

/** Says whether nothing but white space stands between the quote and `at`. */
export const startsString = (json: string, at: number): boolean => {
  const least = Math.max(0, at - SPACE_MAX)
  let before = at - 1
  for (; before >= least; before -= 1) {
    if (json[before] === '"') return true
    if (SPACE.test(json[before] ?? '')) continue
    if (!isEscapedSpace(json, before)) return false
    before -= 1
  }
  return before >= 0
}

/** Says whether the letter at `at` belongs to an escape such as `\n`. */
export const isEscapedSpace = (json: string, at: number): boolean => json[at - 1] === '\\' && ESCAPED.test(json[at] ?? '')

const SPACE = /^\s/
const ESCAPED = /^[nrt]/
