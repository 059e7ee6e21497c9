/** Words with the white space before them, so that the pieces joined are the text again. A word counts as a token. */
export const splitWords = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? []

export const wordCount = (text: string): number => text.match(/\S+/g)?.length ?? 0

/** The usual filler text. */
export const WORDS = (
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. ' +
  'Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat. ' +
  'Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore eu fugiat nulla pariatur. ' +
  'Excepteur sint occaecat cupidatat non proident, sunt in culpa qui officia deserunt mollit anim id est laborum.'
).split(' ')
