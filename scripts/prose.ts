/** Comments are sentences with a subject, and say what happens in plain words. */

/** First words of a comment that leave its subject unclear. */
const FRAGMENT = /^(?:Of|Told|What|Whether|Whoever|The same,)(?=[ ,:]|$)/
/** The first line of a comment: the text after `/**` there or on the next line; or a `//` line without another one above it. */
const BLOCK = /\/\*\*?[ \t]*(?:\n[ \t]*\*[ \t]*)?(?<block>[^\n*][^\n]*)|(?<!\/\/[^\n]*\n[ \t]*)\/\/[ \t]+(?<line>[^\n]+)/g

/** `path:line: words` for each comment that begins with a fragment. */
export const fragmentsIn = (path: string, text: string): string[] =>
  [...text.matchAll(BLOCK)].flatMap(({ index, groups }) => {
    const words = groups?.['block'] ?? groups?.['line'] ?? ''
    if (!FRAGMENT.test(words)) return []
    return [`${path}:${lineOf(text, index)}: ${words.replace(/\s*\*\/.*$/, '')}`]
  })

/** Words that leave open who learns something, and how: "reported", "shown" or "described" is clearer. */
const VAGUE = /\b(?:told|tells?|telling) of\b/gi

/** The `path:line` of each. */
export const vagueWordsIn = (path: string, text: string): string[] =>
  [...text.matchAll(VAGUE)].map(({ index }) => `${path}:${lineOf(text, index)}`)

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length
