/** A pattern that a content filter searches for. */
import { once } from '../lib/once.ts'
import { createRegex, type Regex } from '../lib/regex/finder.ts'

/** Offsets within a match; the end is exclusive. */
export type Part = readonly [start: number, end: number]

export interface Detector {
  readonly regex: Regex
  /** Returns the parts of a match that count; if absent, the whole match counts. */
  readonly partsOf?: (match: string) => readonly Part[]
  /**
   * Text after a match could be mistaken for more of it, so if a message part ends with a complete match, the next part is not read
   * as its continuation.
   */
  readonly endsWithPart?: true
}

/**
 * Creates a detector for a pattern of our own. It is case-sensitive unless `ignoreCase` is set, and may use negative look-arounds
 * of one character class, which cost nothing (lib/regex/parse.ts). It is compiled on first use, because most services start
 * without guardrails.
 */
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
