/** Expressions that somebody wrote, each compiled once: they hold tables, which all who have the same one share. */
import { createMemory } from '../remember.ts'
import type { Steps } from '../steps.ts'
import { createRegex, type Regex } from './finder.ts'
import { RegexRefused } from './parse.ts'

const known = createMemory<Regex>(500)

/** Throws RegexRefused. */
export const knownRegex = (pattern: string): Regex => known(pattern, () => createRegex(pattern))

/** Gives why patterns are refused, by their place. One of 100,000 characters takes up to 80 ms, so each is a step. */
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
