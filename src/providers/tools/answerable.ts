import type { Message } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'

/**
 * Returns the encoded conversation (the turns of user and assistant, or the input) if it has anything to answer. Throws `invalid_prompt`,
 * naming the first message, for a request whose messages say nothing.
 */
export const answerable = <Encoded>(messages: readonly Pick<Message, 'at'>[], encoded: readonly Encoded[]): readonly Encoded[] => {
  const [first] = messages
  // A request without any messages is refused when it comes in.
  if (encoded.length > 0 || first === undefined) return encoded
  throw new GatewayError('invalid_prompt', `${first.at ?? 'messages'}: The prompt has no message for the model to answer.`)
}

/** Throws `invalid_prompt` for an empty last question: without it the model would continue the answer before it. */
export const refuseUnasked = (at: string): never => {
  throw new GatewayError('invalid_prompt', `${at}: The message says nothing that the model could answer.`)
}
