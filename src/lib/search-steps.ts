/** A search of megabytes of JSON text, a piece at a time: an expression goes over all of them in tens of milliseconds. */
import { JSON_LIMITS } from './json-scan.ts'
import type { Steps } from './steps.ts'

/** Characters that are searched at once. */
const PIECE = 256 * 1024

/** As many characters as a match takes on either side of white space in it. */
const REACH = 128

/** As `pattern.test`. Between the parts of a match there may be white space and colons, as much as a body may have. */
export function* testInSteps(pattern: RegExp, text: string): Steps<boolean> {
  if (text.length <= PIECE) return pattern.test(text)
  for (let from = 0; from < text.length;) {
    const to = behindSpace(text, from + PIECE)
    if (pattern.test(text.slice(Math.max(0, from - REACH), to + REACH))) return true
    from = to
    yield
  }
  return false
}

/** The pieces are not cut within white space, so that it does not count for their reach. */
const behindSpace = (text: string, from: number): number => {
  const most = from + JSON_LIMITS.spaces
  let at = from
  SPACES.lastIndex = from
  while (at < most && SPACES.test(text)) at = SPACES.lastIndex
  return Math.min(at, text.length)
}

const SPACES = /[ \n\r\t:]{1,65536}/y
