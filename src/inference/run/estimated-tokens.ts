/** Rough counts of tokens, where nobody counted and no tokenizer is at hand. */
import type { Call } from '../../canonical/call.ts'
import { inputSizeOf } from '../../canonical/input-size.ts'

/** Characters of a token, where nobody counted: an estimate for records and for the dialect that must name a number early. */
export const CHARACTERS_PER_TOKEN = 4

/** About what the providers count for a picture. */
const IMAGE_TOKENS = 1290

export const IMAGE_CHARACTERS = CHARACTERS_PER_TOKEN * IMAGE_TOKENS

/** Without a tokenizer: the length of the body counts, of which the prompt is nearly all, and the pictures by their number. */
export const estimatedInputTokens = ({ body }: Call): number => {
  const { textBytes, images, mediaBytes } = inputSizeOf(body)
  return Math.ceil((textBytes + mediaBytes) / CHARACTERS_PER_TOKEN) + images * IMAGE_TOKENS
}
