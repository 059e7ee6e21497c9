/**
 * Thought signatures: Google's proofs of thinking. Each belongs to the part with which it came, which may be a thought, a text or a
 * function call, and newer models refuse a call of the history without its signature.
 */
import type { Message, Part } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { JsonObject } from '../../lib/json/json.ts'

/**
 * The place of a signature that came with neither a text nor a call, as the id of its proof: not every dialect keeps pictures and thinking
 * in the same order.
 */
export const PICTURE = 'picture_'
export const BEHIND_TEXT = 'behind_text'

/** A part of the model, and the signature that is sent with it. */
export interface ModelPart {
  readonly part: JsonObject
  signature: string | undefined
}

/** The signature in a proof that, as far as is known, this model made. */
export const ownSignature = (proof: ReasoningProof | undefined, modelId: string): string | undefined =>
  proof !== undefined && proof.format === 'google-gemini-v1' && (proof.model === undefined || proof.model === modelId)
    ? proof.data
    : undefined

/** Thinking without a signature is the model's own if a part beside it is signed: most thoughts have no signature. */
export const isOwnMessage = (message: Message, modelId: string): boolean =>
  message.parts.some((part) => hasProof(part) && ownSignature(part.proof, modelId) !== undefined)

const hasProof = (part: Part): part is Extract<Part, { type: 'reasoning' | 'tool-call' }> =>
  part.type === 'reasoning' || part.type === 'tool-call'

/**
 * A signature that came as a block of its own belongs to a text or a picture: to the one before it, or, in dialects that put thinking
 * first, to the one after it. Returns false if there is none before it.
 */
export const signLast = (parts: readonly ModelPart[], signature: string): boolean => {
  // A client of Messages that asks for no thinking gets a thought behind the text that it led to: between this text and its signature.
  const last = parts.findLast(({ part }) => part['thought'] !== true)
  if (last === undefined || last.signature !== undefined || last.part['functionCall'] !== undefined) return false
  last.signature = signature
  return true
}

/**
 * Signs a call that another model made, or whose signature a client did not keep, with the value that Google documents for this. Only the
 * first call of a step is signed.
 */
export const signFirstCall = (parts: readonly ModelPart[]): void => {
  const first = parts.find(({ part }) => part['functionCall'] !== undefined)
  if (first !== undefined) first.signature ??= 'skip_thought_signature_validator'
}

export const placeOfPicture = (number: number): string => `${PICTURE}${number}`

/** Puts the signatures of pictures, by their places, on the pictures. */
export const signPictures = (parts: readonly ModelPart[], signatures: ReadonlyMap<string, string>): void => {
  const pictures = parts.filter(({ part }) => part['inlineData'] !== undefined)
  for (const [number, picture] of pictures.entries()) picture.signature ??= signatures.get(placeOfPicture(number))
}

export const signedPart = ({ part, signature }: ModelPart): JsonObject =>
  signature === undefined ? part : { ...part, thoughtSignature: signature }
