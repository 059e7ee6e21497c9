/**
 * The proof of its own thinking that a model wants back. Providers refuse a turn whose thinking differs in one byte, or was made
 * by another model (docs/contract/requests.md#proofs-of-reasoning), so a proof is carried as it came and handed only to
 * its maker's dialect.
 */
import { includesInSteps } from '../lib/search-steps.ts'
import type { Steps } from '../lib/steps.ts'

export const REASONING_FORMATS = ['anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1'] as const

/** The vendor's format of a proof, by the name that `reasoning_details` has for it. */
export type ReasoningFormat = (typeof REASONING_FORMATS)[number]

export interface ReasoningProof {
  readonly format: ReasoningFormat
  /**
   * `signature` vouches for the text beside it (Anthropic, Google); `encrypted` holds the thinking itself, which is
   * readable to its maker only (OpenAI's `encrypted_content`, Anthropic's `redacted_thinking`).
   */
  readonly kind: 'signature' | 'encrypted'
  readonly data: string
  /** The maker's own id of the item (OpenAI); beside a tool call, the id of that call (see `sealProof`). */
  readonly id?: string
  /** The text that a signature vouches for, where the client's dialect may lose it on the way. */
  readonly text?: string
  /** Our id of the model that made it, where it is known. */
  readonly model?: string
}

/**
 * A proof in a field of a dialect that has no word for its format, such as OpenAI's in an Anthropic `signature`:
 * `pb1.` and base64url of the proof's JSON. What does not begin so is that dialect's own.
 *
 * Google proves tool calls, for which no dialect but its own has a place. Such a proof stands in a block of thinking
 * without text, directly before the call, with the call's id for `id`: a `redacted_thinking` block (Messages), a
 * `reasoning` item's `encrypted_content` (Responses), a `reasoning.encrypted` detail's `id` (chat, unsealed). So a proof
 * whose `id` is that of a tool call of the same turn belongs to that call; the middle holds it there, without the id.
 */
export const sealProof = (proof: ReasoningProof): string => MARK + Buffer.from(JSON.stringify(proof)).toString('base64url')

/** Null for what `sealProof` did not write. It comes from a client: nothing in it is trusted beyond its form. */
export const openProof = (text: string): ReasoningProof | null => {
  if (!text.startsWith(MARK)) return null
  try {
    const value: unknown = JSON.parse(Buffer.from(text.slice(MARK.length), 'base64url').toString())
    return isProof(value) ? value : null
  } catch {
    return null // not ours after all
  }
}

const MARK = 'pb1.'

/**
 * The signature of thinking that nobody signed, on Messages. Some clients take thinking without a signature for a broken
 * block: they leave it out of the next turn, or write it there as words of the user.
 */
export const UNSIGNED = `${MARK}unsigned`

/** A JSON string that begins with it. */
const SEALED = `"${MARK}`

/** Says whether a body may hold sealed proofs: a search of its text, for the lane that does not parse. */
export const lookForSealedProof = (bodyText: string): Steps<boolean> => includesInSteps(bodyText, SEALED)

const isProof = (value: unknown): value is ReasoningProof => {
  if (typeof value !== 'object' || value === null) return false
  const { format, kind, data, id, text, model } = value as Record<string, unknown>
  return (
    REASONING_FORMATS.some((known) => known === format) &&
    (kind === 'signature' || kind === 'encrypted') &&
    typeof data === 'string' &&
    (id === undefined || typeof id === 'string') &&
    (text === undefined || typeof text === 'string') &&
    (model === undefined || typeof model === 'string')
  )
}
