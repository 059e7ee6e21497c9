/**
 * The least that spoken output comes to, in characters of text, for an answer whose provider counts nothing: 20 tokens a second
 * (OpenAI; Google counts 25), of four characters each. A second has 24,000 samples of two bytes, and fewer bytes where it is compressed.
 */
export const spokenCharacters = (base64: string): number => Math.ceil(base64.length / BASE64_OF_CHARACTER)

const BASE64_OF_CHARACTER = ((24_000 * 2) / (20 * 4)) * (4 / 3)
