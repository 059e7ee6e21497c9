/** The target of a content filter in a text. */
import { once } from '../lib/once.ts'
import { createRegex, type Regex } from '../lib/regex/finder.ts'

/** From a match's own beginning, end excluded. */
export type Part = readonly [start: number, end: number]

export interface Detector {
  readonly regex: Regex
  /** The parts of a match that truly count; without it, all of the match does. */
  readonly partsOf?: (match: string) => readonly Part[]
  /** Prose that follows could be taken for more of it: a part of a message that ends in a whole one is not read on. */
  readonly endsWithPart?: true
}

/** A detector for our own patterns: case counts unless the flags say otherwise; an edge costs nothing (lib/regex/parse.ts). Compiled when first asked for: most services start without guardrails. */
export const detector = (
  pattern: string,
  {
    partsOf,
    ignoreCase = false,
    endsWithPart = false,
  }: { partsOf?: Detector['partsOf']; ignoreCase?: boolean; endsWithPart?: boolean } = {},
): Detector => {
  const regex = once(() => createRegex(pattern, { edges: true, ignoreCase }))
  return {
    get regex() {
      return regex()
    },
    ...(partsOf === undefined ? {} : { partsOf }),
    ...(endsWithPart ? { endsWithPart } : {}),
  }
}

export const wholeIf =
  (test: (match: string) => boolean) =>
  (match: string): readonly Part[] =>
    test(match) ? [[0, match.length]] : []
