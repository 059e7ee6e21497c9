import type { Message } from '../canonical/prompt.ts'
import { GatewayError } from '../errors.ts'

/**
 * The encoded conversation, where it still has something to answer: the turns of user and assistant, or the
 * input. Throws `invalid_prompt` for a request whose messages say nothing, naming the first of them.
 */
export const answerable = <Encoded>(messages: readonly Message[], encoded: readonly Encoded[]): readonly Encoded[] => {
  const [first] = messages
  // That there are messages at all is seen to where the request comes in.
  if (encoded.length > 0 || first === undefined) return encoded
  throw new GatewayError('invalid_prompt', `${first.at ?? 'messages'}: The prompt has no message for the model to answer.`)
}

/** Throws `invalid_prompt` for a last question that is empty: without it the model would go on with the answer before. */
export const refuseUnasked = (at: string): never => {
  throw new GatewayError('invalid_prompt', `${at}: The message says nothing that the model could answer.`)
}
