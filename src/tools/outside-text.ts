/** Text from outside, such as a page or a search result, as people see it, without hidden parts. */
import { visibleText } from '../lib/text/visible-text.ts'

/** Returns the text without invisible characters and HTML comments. */
export const plainText = (text: string): string => withoutComments(visibleText(text))

/** Implemented by hand: a regular expression would search for the end from each of very many beginnings. */
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
