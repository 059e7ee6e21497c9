/** Finds the beginnings of strings in JSON text for searches that skip leading white space, whether literal or escaped. */

/** Longer white space counts as the beginning of a string, so that no search takes long. */
const SPACE_MAX = 64 * 1024

/** True if there is nothing but white space between the opening quote and `at`. */
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

/** True if the letter at `at` belongs to an escape such as `\n`. */
export const isEscapedSpace = (json: string, at: number): boolean => json[at - 1] === '\\' && ESCAPED.test(json[at] ?? '')

const SPACE = /^\s/
const ESCAPED = /^[nrt]/
