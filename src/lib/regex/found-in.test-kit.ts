import type { Matcher } from './any-match.ts'

export const foundIn = (openMatcher: () => Matcher, text: string): boolean => {
  const one = openMatcher()
  return one.push(text) || one.end()
}
