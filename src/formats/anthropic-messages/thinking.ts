/** Writes proofs of thinking into the fields that this dialect has for Claude's. Foreign proofs are sealed. */
import { sealProof, UNSIGNED } from '../../canonical/reasoning.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { Block } from '../block-sequence.ts'

/** The `signature` of a `thinking` block. */
export const signatureOf = (proof: ReasoningProof | null): string => {
  if (proof === null) return UNSIGNED
  return isOwn(proof) && proof.kind === 'signature' ? proof.data : sealProof(proof)
}

/**
 * A proof without readable thinking is either a signature of an empty text (thinking that the request asked to hide) or
 * `redacted_thinking`.
 */
export const proofBlock = ({
  proof,
  ofCall,
}: Block & { readonly type: 'proof' }): { readonly signature: string } | { readonly data: string } => {
  // The proof of a call must name its call, so it is always sealed.
  if (ofCall || !isOwn(proof)) return { data: sealProof(proof) }
  return proof.kind === 'signature' ? { signature: proof.data } : { data: proof.data }
}

const isOwn = ({ format, member }: ReasoningProof): boolean => format === 'anthropic-claude-v1' && member === undefined
