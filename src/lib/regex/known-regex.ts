/** User-defined patterns, each compiled once: a compiled pattern holds tables, which are shared by all users of the same pattern. */
import { createMemory } from '../remember.ts'
import type { Steps } from '../steps.ts'
import { createRegex, type Regex } from './finder.ts'
import { RegexRefused } from './parse.ts'

const known = createMemory<Regex>(500)

/** Throws RegexRefused. */
export const knownRegex = (pattern: string): Regex => known(pattern, () => createRegex(pattern))

/**
 * Returns the reasons for which patterns are refused, by index. A pattern of 100,000 characters
 * takes up to 80 ms, so each pattern is a step.
 */
export function* compilePatterns(patterns: readonly string[]): Steps<ReadonlyMap<number, string>> {
  const refused = new Map<number, string>()
  for (const [index, pattern] of patterns.entries()) {
    try {
      knownRegex(pattern)
    } catch (thrown) {
      if (!(thrown instanceof RegexRefused)) throw thrown
      refused.set(index, thrown.message)
    }
    yield
  }
  return refused
}
