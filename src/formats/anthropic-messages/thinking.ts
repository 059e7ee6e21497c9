/** Writes proofs of thinking into the fields that this dialect has for its own. Foreign ones travel sealed. */
import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { Block } from '../block-sequence.ts'

/** `signature` of a `thinking` block. */
export const signatureOf = (proof: ReasoningProof | null): string => {
  if (proof === null) return UNSIGNED
  return isOwn(proof) && proof.kind === 'signature' ? proof.data : sealProof(proof)
}

/** The form of a proof without readable thinking: a signature of an empty text (thinking that was asked not to be shown), or `redacted_thinking`. */
export const proofBlock = ({
  proof,
  ofCall,
}: Block & { readonly type: 'proof' }): { readonly signature: string } | { readonly data: string } => {
  // A call's proof names its call, so it is sealed in every format.
  if (ofCall || !isOwn(proof)) return { data: sealProof(proof) }
  return proof.kind === 'signature' ? { signature: proof.data } : { data: proof.data }
}

const isOwn = (proof: ReasoningProof): boolean => proof.format === 'anthropic-claude-v1'
