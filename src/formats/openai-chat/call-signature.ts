/**
 * The signature of a call of Gemini's, in the member that Google's own variant of this dialect has for it. Clients that know that variant
 * send it back with the call; those that send back `reasoning_details` have it there too.
 */
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { JsonObject } from '../../lib/json/json.ts'

/** The members to add to a call: none if its proof is not a signature of Gemini's. */
export const signatureOfCall = (proof: ReasoningProof | undefined): JsonObject =>
  proof?.format === 'google-gemini-v1' ? { extra_content: { google: { thought_signature: proof.data } } } : {}
