/** A search of JSON text for names, so that only what may hold them is parsed. A parser finds them however they are written. */
export const mayName = (name: string | RegExp, json: string): boolean =>
  (typeof name === 'string' ? json.includes(name) : name.test(json)) || spellsNames(json)

/** Letters, or the signs between words, stand in the text as escapes. They are written so only to hide a word. */
export const spellsNames = (json: string): boolean => json.includes(String.raw`\u00`) && SPELT.test(json)

/** The characters from `@` to the end of ASCII, and the colon of our own types of tools. */
const SPELT = /\\u00(?:[4-7]|3[aA])/
