/** Rough counts of tokens, where no count was reported and no tokenizer is at hand. */
import type { Call } from '../../canonical/call.ts'
import { inputSizeOf } from '../../canonical/input-size.ts'

/** Characters of a token, where no count was reported: an estimate for records and for the dialect that must name a number early. */
export const CHARACTERS_PER_TOKEN = 4

/** About what the providers count for a picture. */
const IMAGE_TOKENS = 1290

export const IMAGE_CHARACTERS = CHARACTERS_PER_TOKEN * IMAGE_TOKENS

/** Without a tokenizer: the length of the body counts, since nearly all of it is the prompt, and the number of pictures. */
export const estimatedInputTokens = ({ body }: Call): number => {
  const { textBytes, images, mediaBytes } = inputSizeOf(body)
  return Math.ceil((textBytes + mediaBytes) / CHARACTERS_PER_TOKEN) + images * IMAGE_TOKENS
}
