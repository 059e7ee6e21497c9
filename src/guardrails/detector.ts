/** What a content filter looks for in a text. */
import { once } from '../lib/once.ts'
import { createRegex, type Regex } from '../lib/regex/finder.ts'

/** From a match's own beginning, end excluded. */
export type Part = readonly [start: number, end: number]

export interface Detector {
  readonly regex: Regex
  /** The parts of a match that truly are what is looked for; without it, all of it. */
  readonly partsOf?: (match: string) => readonly Part[]
}

/** Of our own patterns: any letter's case counts unless told; an edge costs nothing (lib/regex/parse.ts). Compiled when first asked for: most services start without guardrails. */
export const detector = (
  pattern: string,
  { partsOf, ignoreCase = false }: { partsOf?: Detector['partsOf']; ignoreCase?: boolean } = {},
): Detector => {
  const regex = once(() => createRegex(pattern, { edges: true, ignoreCase }))
  return {
    get regex() {
      return regex()
    },
    ...(partsOf === undefined ? {} : { partsOf }),
  }
}

export const wholeIf =
  (test: (match: string) => boolean) =>
  (match: string): readonly Part[] =>
    test(match) ? [[0, match.length]] : []
