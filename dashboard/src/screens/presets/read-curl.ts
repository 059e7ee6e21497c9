/** Reads the body of a request out of a command for curl, as people copy it from documentation and from a browser's network log. */
import type { PresetShape } from '../../api/presets.ts'

interface CurlBody {
  readonly body: string
  /** Null if the address is of none of the three interfaces. */
  readonly shape: PresetShape | null
}

const DATA = new Set(['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--json'])

const SHAPES: readonly (readonly [RegExp, PresetShape])[] = [
  [/\/chat\/completions\b/, 'chat'],
  [/\/responses\b/, 'responses'],
  [/\/messages\b/, 'messages'],
]

/** Returns null if the text is no such command, or one without a body. */
export const readCurl = (text: string): CurlBody | null => {
  const [program, ...words] = wordsOf(text)
  if (program !== 'curl') return null
  const body = words.flatMap((word, at) => {
    const name = [...DATA].find((one) => (one === '-d' ? word.startsWith(one) && !word.startsWith('--') : word.startsWith(`${one}=`)))
    if (DATA.has(word)) return words.slice(at + 1, at + 2)
    return name === undefined ? [] : [word.slice(name === '-d' ? 2 : name.length + 1)]
  })[0]
  if (body === undefined) return null
  return { body, shape: SHAPES.find(([path]) => words.some((word) => /^(?:https?:|\$|\/)/.test(word) && path.test(word)))?.[1] ?? null }
}

/** A piece of a word: in single quotes, in the quotes of bash with escapes, in double quotes, or bare. */
const PIECE = /'([^']*)'|\$'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)/y

const wordsOf = (text: string): readonly string[] => {
  const words: string[] = []
  let at = 0
  for (;;) {
    const space = /(?:\s|\\\r?\n)*/y
    space.lastIndex = at
    at += space.exec(text)?.[0].length ?? 0
    let word: string | null = null
    for (PIECE.lastIndex = at; ; at = PIECE.lastIndex) {
      const piece = PIECE.exec(text)
      if (piece === null) break
      word = (word ?? '') + unquoted(piece)
    }
    if (word === null) return words
    words.push(word)
  }
}

const unquoted = ([, single, dollar, double, escaped, bare]: RegExpExecArray): string =>
  single ??
  dollar?.replace(/\\([^])/g, (_, sign: string) => ESCAPES[sign] ?? sign) ??
  double?.replace(/\\(["\\$`\n])/g, '$1') ??
  escaped ??
  bare ??
  ''

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
