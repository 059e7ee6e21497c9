/**
 * The proof of its own thinking that a model wants back. Providers refuse a turn whose thinking differs in one byte, or was made
 * by another model (docs/contract/requests.md#proofs-of-reasoning), so a proof is carried unchanged and handed only to the dialect
 * of the provider that made it.
 */
import { includesInSteps } from '../lib/text/search-steps.ts'
import type { Steps } from '../lib/steps.ts'
import { jsonIn } from '../lib/json/json.ts'

export const REASONING_FORMATS = ['anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1'] as const

/** The vendor's format of a proof, under the name used in `reasoning_details`. */
export type ReasoningFormat = (typeof REASONING_FORMATS)[number]

export interface ReasoningProof {
  readonly format: ReasoningFormat
  /**
   * `signature` vouches for the text beside it (Anthropic, Google); `encrypted` holds the thinking itself, readable only by its
   * provider (OpenAI's `encrypted_content`, Anthropic's `redacted_thinking`).
   */
  readonly kind: 'signature' | 'encrypted'
  readonly data: string
  /** The provider's own id of the item (OpenAI); beside a tool call, the id of that call (see `sealProof`). */
  readonly id?: string
  /** The text that a signature vouches for, kept here if the client's dialect may lose it. */
  readonly text?: string
  /** Our id of the model that made the proof, if known. */
  readonly model?: string
  /** The member of a chat message in which the server gave the proof and wants it back, if it is not that of the dialect (LiteLLM). */
  readonly member?: 'thinking_blocks'
}

/**
 * A proof in a field of a dialect that has no place for its format, such as OpenAI's in an Anthropic `signature`, is written as
 * `pb1.` and base64url of the proof's JSON. A value without that prefix is the dialect's own.
 *
 * Google signs tool calls, for which only its own dialect has a place. Such a proof becomes a block of thinking without text,
 * directly before the call, with the call's id as `id`: a `redacted_thinking` block (Messages), a `reasoning` item's
 * `encrypted_content` (Responses), a `reasoning.encrypted` detail's `id` (chat, unsealed). So a proof whose `id` is that of a tool
 * call of the same turn belongs to that call; in the canonical form it is attached to the call, without the id.
 */
export const sealProof = (proof: ReasoningProof): string => MARK + Buffer.from(JSON.stringify(proof)).toString('base64url')

/** Returns null for text that `sealProof` did not write. The text comes from a client: only its form is trusted. */
export const openProof = (text: string): ReasoningProof | null => {
  if (!text.startsWith(MARK)) return null
  const value: unknown = jsonIn(Buffer.from(text.slice(MARK.length), 'base64url').toString())
  return isProof(value) ? value : null
}

const MARK = 'pb1.'

/**
 * The proof of thinking that nobody signed: its signature on Messages, and its `encrypted_content` on Responses where the client asks for
 * that. Some clients take thinking without it for broken: they leave it out of the next turn, send it as words of the user, or give up.
 */
export const UNSIGNED = `${MARK}unsigned`

/** The beginning of a JSON string that holds a sealed proof. */
const SEALED = `"${MARK}`

/** Returns true if a body may hold sealed proofs: a text search, for the path that does not parse the body. */
export const lookForSealedProof = (bodyText: string): Steps<boolean> => includesInSteps(bodyText, SEALED)

const isProof = (value: unknown): value is ReasoningProof => {
  if (typeof value !== 'object' || value === null) return false
  const { format, kind, data, id, text, model, member } = value as Record<string, unknown>
  return (
    REASONING_FORMATS.some((known) => known === format) &&
    (kind === 'signature' || kind === 'encrypted') &&
    typeof data === 'string' &&
    (id === undefined || typeof id === 'string') &&
    (text === undefined || typeof text === 'string') &&
    (model === undefined || typeof model === 'string') &&
    (member === undefined || member === 'thinking_blocks')
  )
}
