/** Text of strangers, such as a page or a search result, as people see it: what hides in it is left out. */
import { visibleText } from '../lib/visible-text.ts'

/** The text without invisible characters, and without comments of HTML. */
export const plainText = (text: string): string => withoutComments(visibleText(text))

/** By hand: an expression would look for the end of each of very many beginnings. */
const withoutComments = (text: string): string => {
  let kept = ''
  let from = 0
  for (let at = text.indexOf('<!--'); at >= 0; at = text.indexOf('<!--', from)) {
    kept += text.slice(from, at)
    const end = text.indexOf('-->', at)
    if (end < 0) return kept
    from = end + '-->'.length
  }
  return kept + text.slice(from)
}
