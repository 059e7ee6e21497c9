/** Comments are sentences: the first words of a block that leave the reader to look for its subject. */

const FRAGMENT = /^(?:Of|Told|What|Whether|Whoever|The same,)(?=[ ,:]|$)/
/** The first line of a block: `/**` and what stands behind it there, or on the next line; a `//` that no other one stands above. */
const BLOCK = /\/\*\*?[ \t]*(?:\n[ \t]*\*[ \t]*)?(?<block>[^\n*][^\n]*)|(?<!\/\/[^\n]*\n[ \t]*)\/\/[ \t]+(?<line>[^\n]+)/g

/** `path:line: words` for each block of comments that begins with a fragment. */
export const fragmentsIn = (path: string, text: string): string[] =>
  [...text.matchAll(BLOCK)].flatMap(({ index, groups }) => {
    const words = groups?.['block'] ?? groups?.['line'] ?? ''
    if (!FRAGMENT.test(words)) return []
    return [`${path}:${text.slice(0, index).split('\n').length}: ${words.replace(/\s*\*\/.*$/, '')}`]
  })
