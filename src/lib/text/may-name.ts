/** Searches JSON text for names, so that only text that may contain them is parsed. True also if the text may spell a name with escapes. */
import { isOnePiece, testInSteps, wordPattern } from './search-steps.ts'
import type { Steps } from '../steps.ts'

export const mayName = (name: string | RegExp, json: string): boolean =>
  (typeof name === 'string' ? wordPattern(name) : name).test(json) || spellsNames(json)

/** Like `mayName`, in steps, for text of any length. */
export function* lookForName(name: RegExp, json: string): Steps<boolean> {
  if (isOnePiece(json)) return mayName(name, json)
  return (yield* testInSteps(name, json)) || (yield* testInSteps(SPELT, json))
}

/** True if letters, or the characters between words, are written as escapes. Text is written so only to hide a word. */
export const spellsNames = (json: string): boolean => SPELT.test(json)

/**
 * The escapes of characters from `@` to the end of ASCII, and of the colon in our own tool types. The engine finds this
 * alternation ten times as fast as its four common first characters.
 */
const SPELT = /\\u00(?:[4-7]|3[aA])/
