/** Rough token counts, used if no count was reported and no tokenizer is available. */
import type { Call } from '../../canonical/call.ts'
import { inputSizeOf } from '../../canonical/input-size.ts'

/** Characters per token, for estimates in records and for the dialect that must state a number early. */
export const CHARACTERS_PER_TOKEN = 4

/** Roughly the number of tokens that providers count for a picture. */
const IMAGE_TOKENS = 1290

export const IMAGE_CHARACTERS = CHARACTERS_PER_TOKEN * IMAGE_TOKENS

/** Estimated without a tokenizer: from the length of the body, since nearly all of it is the prompt, and the number of pictures. */
export const estimatedInputTokens = ({ body }: Call): number => {
  const { textBytes, images, mediaBytes } = inputSizeOf(body)
  return Math.ceil((textBytes + mediaBytes) / CHARACTERS_PER_TOKEN) + images * IMAGE_TOKENS
}
