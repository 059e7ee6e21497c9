/**
 * The words of a text, one at a time, each with the white space before it; white space at the end goes to the last word, so that the joined
 * pieces are the text again. A word counts as a token.
 */
export function* words(text: string): Generator<string> {
  for (const [word] of text.matchAll(WORD)) yield word
}

const WORD = /\s*\S+(?:\s+$)?|^\s+$/g

/** In a longer text only the words of this beginning are counted, and the count is extrapolated. */
const COUNTED_CHARACTERS = 256 * 1024

/** Takes a few milliseconds at most, however long the text is. */
export const wordCount = (text: string): number => {
  if (text.length > COUNTED_CHARACTERS) return Math.ceil((wordCount(text.slice(0, COUNTED_CHARACTERS)) * text.length) / COUNTED_CHARACTERS)
  let count = 0
  for (const _ of text.matchAll(WORD)) count += 1
  return count
}

/** The usual filler text. */
export const WORDS = (
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. ' +
  'Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat. ' +
  'Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore eu fugiat nulla pariatur. ' +
  'Excepteur sint occaecat cupidatat non proident, sunt in culpa qui officia deserunt mollit anim id est laborum.'
).split(' ')
