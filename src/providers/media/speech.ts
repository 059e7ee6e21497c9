/**
 * The least that spoken output counts for, in characters of text, if the provider reports no count: 20 tokens a second (OpenAI; Google
 * counts 25), of four characters each. A second has 24,000 samples of two bytes, and fewer bytes if it is compressed.
 */
export const spokenCharacters = (base64: string): number => Math.ceil(base64.length / BASE64_OF_CHARACTER)

const BASE64_OF_CHARACTER = ((24_000 * 2) / (20 * 4)) * (4 / 3)
