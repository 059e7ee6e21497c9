/** Comments are sentences with a subject, and say what happens in plain words. */

/** First words of a block that leave the reader to look for its subject. */
const FRAGMENT = /^(?:Of|Told|What|Whether|Whoever|The same,)(?=[ ,:]|$)/
/** The first line of a block: `/**` and what stands behind it there, or on the next line; a `//` that no other one stands above. */
const BLOCK = /\/\*\*?[ \t]*(?:\n[ \t]*\*[ \t]*)?(?<block>[^\n*][^\n]*)|(?<!\/\/[^\n]*\n[ \t]*)\/\/[ \t]+(?<line>[^\n]+)/g

/** `path:line: words` for each block of comments that begins with a fragment. */
export const fragmentsIn = (path: string, text: string): string[] =>
  [...text.matchAll(BLOCK)].flatMap(({ index, groups }) => {
    const words = groups?.['block'] ?? groups?.['line'] ?? ''
    if (!FRAGMENT.test(words)) return []
    return [`${path}:${lineOf(text, index)}: ${words.replace(/\s*\*\/.*$/, '')}`]
  })

/** Words that leave open who learns what, and how: "reported", "shown" or "described" says it. */
const VAGUE = /\b(?:told|tells?|telling) of\b/gi

/** `path:line` of each. */
export const vagueWordsIn = (path: string, text: string): string[] =>
  [...text.matchAll(VAGUE)].map(({ index }) => `${path}:${lineOf(text, index)}`)

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length
