/** The error for an answer that ends because what the provider's own tools do in it could not be held. It says nothing about the provider. */
import { GatewayError } from '../errors.ts'
import { asFailure } from './as-failure.ts'

class UnheldTools extends Error {
  override readonly name = 'UnheldTools'
}

/** The same refusal, which ends the run: neither another key nor another provider or model is asked. */
export const unheldTools = (refused: unknown): GatewayError => {
  const { type, message, status, metadata, retryAfterSeconds } = asFailure(refused)
  const cause = new UnheldTools('The work of tools was not held.', { cause: refused })
  return new GatewayError(type, message, { status, metadata, retryAfterSeconds, cause })
}

export const isUnheldTools = ({ cause }: GatewayError): boolean => cause instanceof UnheldTools
