import type { GatewayError } from '../errors.ts'

/**
 * The message of an error. Libraries tell a conversation that is too long by `words` of the vendor whose dialect they speak, so these follow
 * the sentence of another one (docs/contract/errors.md#words-of-the-dialect).
 */
export const messageIn = (words: string, { type, publicMessage }: GatewayError): string =>
  type !== 'context_length_exceeded' || publicMessage.toLowerCase().includes(words) ? publicMessage : `${publicMessage} (${words})`
