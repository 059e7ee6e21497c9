/** Text of strangers, such as a page or a search result, as people see it: what hides in it is left out. */

/** Without characters that nobody sees, among them those that turn the direction of text, and without comments of HTML. */
export const visibleText = (text: string): string => withoutComments(text.replace(INVISIBLE, ''))

/** At most so many UTF-16 units; no character is split. */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '')

/** Default-ignorable and control characters, and halves of characters. Tabs and line ends stay. */
const INVISIBLE = /[\p{DI}\p{Cs}]|(?![\t\n\r])\p{Cc}/gu

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
